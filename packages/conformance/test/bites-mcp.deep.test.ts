import { describeFaults } from "./bites.ts";
import { MCP_FAULTS } from "./faults-mcp.ts";

describeFaults("a fault of the endpoint of MCP makes its checks fail, and no other:", MCP_FAULTS, "mcp");
