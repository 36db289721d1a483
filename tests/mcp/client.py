"""Calls each tool of a server with the client of the protocol's authors, and prints the results.

Arguments: the program, and the directory that it serves. The calls come as JSON on stdin: a list
of [tool, arguments]. A line of JSON is printed for each: {"isError", "text", "messages"}. The first
line has the server's name and the names of its tools.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    program, directory = sys.argv[1:]
    calls = json.load(sys.stdin)
    async with stdio_client(StdioServerParameters(command=program, args=["mcp", directory])) as (read, write):
        async with ClientSession(read, write) as session:
            server = await session.initialize()
            tools = await session.list_tools()
            print(json.dumps([server.server_info.name, *(tool.name for tool in tools.tools)]))
            for tool, arguments in calls:
                result = await session.call_tool(tool, arguments)
                data = result.structured_content or {}
                line = {"isError": result.is_error, "text": result.content[0].text, "messages": data.get("messages", [])}
                print(json.dumps(line))


asyncio.run(main())
