//! What is posted where: the forms that receivers understand.

use std::fmt::Write as _;

use ring::hmac;
use serde::Serialize;

use super::notice::NoticeWire;
use super::wish::NotifyWish;

/// One message over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpPost {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// The posts that a notice leads to.
pub(super) fn posts(wish: &NotifyWish, notice: &NoticeWire) -> Vec<HttpPost> {
    let webhook = wish.webhook.as_ref().map(|url| webhook(url, wish, notice));
    let ntfy = wish.ntfy.as_ref().map(|url| ntfy(url, wish, notice));
    let slack = wish.slack.as_ref().map(|url| slack(url, notice));
    webhook.into_iter().chain(ntfy).chain(slack).collect()
}

/// A notice in the JSON form of `CloudEvents` 1.0.
#[derive(Serialize)]
struct CloudEventWire<'a> {
    specversion: &'static str,
    id: &'a str,
    source: String,
    r#type: String,
    time: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    datacontenttype: &'static str,
    data: LoopNewsWire<'a>,
}

#[derive(Serialize)]
struct LoopNewsWire<'a> {
    #[serde(rename = "loop")]
    name: Option<&'a str>,
    goal: &'a str,
    project: &'a str,
    outcome: Option<&'a str>,
    why: Option<&'a str>,
    needs_person: bool,
    text: &'a str,
}

fn webhook(url: &str, wish: &NotifyWish, notice: &NoticeWire) -> HttpPost {
    let event = CloudEventWire {
        specversion: "1.0",
        id: &notice.id,
        source: "stopgate".into(),
        r#type: format!("stopgate.loop.{}", notice.kind),
        time: &notice.at,
        subject: notice.name.as_deref(),
        datacontenttype: "application/json",
        data: LoopNewsWire {
            name: notice.name.as_deref(),
            goal: &notice.goal,
            project: &notice.project,
            outcome: notice.outcome.as_deref(),
            why: notice.why.as_deref(),
            needs_person: notice.needs_person(),
            text: &notice.text,
        },
    };
    let body = serde_json::to_vec(&event).unwrap_or_default();
    let mut headers = vec![("Content-Type", "application/cloudevents+json".to_string())];
    if let Some(secret) = &wish.webhook_secret {
        headers.push(("X-Stopgate-Signature-256", signature(secret, &body)));
    }
    HttpPost { url: url.into(), headers, body }
}

/// The body's HMAC-SHA-256, as receivers of other webhooks know it: `sha256=…`.
fn signature(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, body);
    let mut text = String::from("sha256=");
    for byte in tag.as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn ntfy(url: &str, wish: &NotifyWish, notice: &NoticeWire) -> HttpPost {
    let (priority, tag) =
        if notice.needs_person() { ("high", "warning") } else { ("default", "white_check_mark") };
    let mut headers = vec![
        ("Content-Type", "text/plain; charset=utf-8".to_string()),
        ("Title", "stopgate".to_string()),
        ("Priority", priority.to_string()),
        ("Tags", tag.to_string()),
    ];
    if let Some(token) = &wish.ntfy_token {
        headers.push(("Authorization", format!("Bearer {token}")));
    }
    HttpPost { url: url.into(), headers, body: notice.text.clone().into_bytes() }
}

#[derive(Serialize)]
struct SlackWire {
    text: String,
}

fn slack(url: &str, notice: &NoticeWire) -> HttpPost {
    // The three letters that mean something there.
    let text = notice.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let body = serde_json::to_vec(&SlackWire { text }).unwrap_or_default();
    let headers = vec![("Content-Type", "application/json".to_string())];
    HttpPost { url: url.into(), headers, body }
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn a_signature_is_the_one_that_others_compute() {
        // Test case 2 of RFC 4231.
        assert_eq!(
            signature("Jefe", b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
