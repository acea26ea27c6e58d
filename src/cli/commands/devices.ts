import { BaseCommand } from "../base-command.ts";

export default class Devices extends BaseCommand {
  static override summary =
    "List the devices that each backend can use on this machine, and why others are not usable.";
  static override examples = ["<%= config.bin %> devices", "<%= config.bin %> devices --json"];

  async run(): Promise<void> {
    const { flags } = await this.parse(Devices);
    const { listDevices } = await import("../actions/devices.ts");
    this.log(await listDevices(flags.json));
  }
}
