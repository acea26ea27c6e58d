import { allDevices } from "../../devices/devices.ts";
import { table } from "../output/model-text.ts";

/** `decision devices` */
export async function listDevices(isJson: boolean): Promise<string> {
  const devices = await allDevices(process.env);
  if (isJson) return JSON.stringify({ devices }, null, 2);
  const rows = devices.map(({ backend, device, isUsable, details }) => [
    backend,
    device,
    isUsable ? "yes" : "no",
    details,
  ]);
  return table([["backend", "device", "usable", "details"], ...rows]);
}
