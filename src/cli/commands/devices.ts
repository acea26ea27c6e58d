import { allDevices } from "../../devices/devices.ts";
import { BaseCommand } from "../base-command.ts";
import { table } from "../output/model-text.ts";

export default class Devices extends BaseCommand {
  static override summary =
    "List the devices that each backend can use on this machine, and why others are not usable.";
  static override examples = ["<%= config.bin %> devices", "<%= config.bin %> devices --json"];

  async run(): Promise<void> {
    const { flags } = await this.parse(Devices);
    const devices = await allDevices(process.env);
    if (flags.json) return this.log(JSON.stringify({ devices }, null, 2));
    const rows = devices.map(({ backend, device, isUsable, details }) => {
      return [backend, device, isUsable ? "yes" : "no", details];
    });
    this.log(table([["backend", "device", "usable", "details"], ...rows]));
  }
}
