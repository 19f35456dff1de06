//! The APIs that the clients speak to their models, told apart by path.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http::HttpRequest;
use crate::reply::{self, ReplyWire};
use crate::sort::{self, Kind};

/// An API in which a model can be asked for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelApi {
    /// Anthropic's `/v1/messages`.
    Messages,
    /// `OpenAI`'s `/responses`.
    Responses,
    /// `OpenAI`'s `/chat/completions`.
    Chat,
    /// Gemini's `:generateContent`, at once or as a stream.
    Gemini,
}

impl ModelApi {
    /// The API of a request for an answer; `None` for any other request.
    pub(crate) fn of(call: &HttpRequest) -> Option<Self> {
        if call.method != "POST" {
            return None;
        }
        let ends = [
            ("/v1/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            (":generateContent", Self::Gemini),
            (":streamGenerateContent", Self::Gemini),
        ];
        ends.into_iter().find(|(end, _)| call.path.ends_with(end)).map(|(_, api)| api)
    }

    /// What a request is for.
    pub(crate) fn kind_of(self, call: &HttpRequest, body: &Value) -> Kind {
        match self {
            Self::Messages => sort::kind_of(&call.headers, body),
            Self::Responses | Self::Chat => sort::by_tools(body),
            // A client that routes or summarises asks for whole answers.
            Self::Gemini if self.streams(call, body) => sort::by_tools(body),
            Self::Gemini => Kind::Side,
        }
    }

    /// Whether the answer is to be a stream of events.
    pub(crate) fn streams(self, call: &HttpRequest, body: &Value) -> bool {
        match self {
            Self::Gemini => call.path.ends_with(":streamGenerateContent"),
            Self::Messages | Self::Responses | Self::Chat => body["stream"] == true,
        }
    }

    /// An answer at once.
    pub(crate) fn whole(self, reply: &ReplyWire) -> Value {
        match self {
            Self::Messages => reply::messages::whole(reply),
            Self::Responses => reply::responses::whole(reply),
            Self::Chat => reply::chat::whole(reply),
            Self::Gemini => reply::gemini::whole(reply),
        }
    }

    /// An answer as the events of a stream.
    pub(crate) fn events(self, reply: &ReplyWire) -> Vec<String> {
        match self {
            Self::Messages => reply::messages::events(reply),
            Self::Responses => reply::responses::events(reply),
            Self::Chat => reply::chat::events(reply),
            Self::Gemini => reply::gemini::events(reply),
        }
    }

    /// The body that says that the conversation is too long.
    pub(crate) fn too_long(self) -> Value {
        match self {
            Self::Messages => json!({"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 212345 tokens > 200000 maximum",
            }}),
            Self::Responses | Self::Chat => json!({"error": {
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
                "message": "Your input exceeds the context window of this model.",
            }}),
            Self::Gemini => {
                let message = "The input token count (1200000) exceeds the maximum number of \
                               tokens allowed (1048576).";
                gemini_refusal(400, message, None)
            }
        }
    }

    /// The body of a refusal.
    pub(crate) fn refusal(self, status: u16, retry_after: Option<Duration>) -> Value {
        let message = format!("scripted status {status}");
        match self {
            Self::Messages => {
                let error = json!({"type": anthropic_type(status), "message": message});
                json!({"type": "error", "error": error})
            }
            Self::Responses => openai_refusal(status, &message, retry_after),
            Self::Chat => openai_refusal(status, &message, None),
            Self::Gemini => gemini_refusal(status, &message, retry_after),
        }
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn openai_refusal(status: u16, message: &str, resets_in: Option<Duration>) -> Value {
    let kind = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let mut error = json!({"message": message, "type": kind, "code": kind});
    if let Some(resets_in) = resets_in {
        error["type"] = json!("usage_limit_reached");
        error["resets_in_seconds"] = json!(resets_in.as_secs());
    }
    json!({ "error": error })
}

fn gemini_refusal(status: u16, message: &str, retry_after: Option<Duration>) -> Value {
    let name = match status {
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let detail = |retry_after: Duration| {
        json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{}s", retry_after.as_secs()),
        })
    };
    let details: Vec<Value> = retry_after.map(detail).into_iter().collect();
    json!({"error": {"code": status, "message": message, "status": name, "details": details}})
}
