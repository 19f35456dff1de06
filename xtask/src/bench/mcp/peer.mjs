// The usual server on the Node SDK: one tool, which does nothing.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'peer', version: '1' });
server.registerTool('echo', { description: 'Says it again', inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: 'text', text: JSON.stringify({ text }) }],
  structuredContent: { text },
}));
await server.connect(new StdioServerTransport());
