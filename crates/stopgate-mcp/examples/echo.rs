//! The server over a desk that only echoes: what the protocol itself costs.
//!
//! With an address as argument it serves HTTP there, with the token that follows.

use std::error::Error;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stopgate_mcp::{
    CallRefusal, HttpOptions, Token, ToolHandler, ToolName, ToolSet, serve_http, serve_stdio,
};

struct Echo;

impl ToolHandler for Echo {
    fn call(&self, tool: ToolName, arguments: Map<String, Value>) -> Result<Value, CallRefusal> {
        Ok(json!({"tool": tool, "arguments": arguments}))
    }

    fn is_near(&self, _tool: ToolName, _arguments: &Map<String, Value>) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(secret)) = (arguments.next(), arguments.next()) else {
        return Ok(serve_stdio(ToolSet::All, Arc::new(Echo))?);
    };
    let token = Token::new(&secret).ok_or("the token is too short")?;
    let options = HttpOptions { address: address.parse()?, token };
    Ok(serve_http(ToolSet::All, Arc::new(Echo), options, |_| {})?)
}
