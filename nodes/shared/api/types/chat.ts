import type { JsonObject, JsonValue } from '../../json';

/** Response fields seen on `POST /v1/chat/inbound` (Endpoints › Chat (v1)). Its request fields aren't documented. */
export type InboundReply = {
	state: string;
	reply: string;
	mode: string;
	help_requested: boolean;
	turn_id: string;
	message_id: string;
};

/** Body of `POST /v1/chat/session/{id}/inject_context`: one non-empty entry. */
export type InjectContextRequest = { context: string };

/** Success `data` of `inject_context`: the whole list after appending, in order. */
export type InjectContextResult = { session_id: string; context: string[] };

/** Body of `POST /v1/chat/session/{id}/ws_token`; with an API token, `stream` must be `user`. */
export type WsTokenRequest = { stream: 'user' };

/** Success `data` of `ws_token`. The token is valid for 5 minutes. */
export type WsToken = {
	token: string;
	ws_url: string;
	/** Epoch seconds. */
	expires_at: number;
	stream: string;
};

/** Body of the legacy `POST /chat_sessions`. */
export type LegacyCreateSessionRequest = {
	agent_uuid: string;
	metadata?: JsonObject & { person_name?: string };
};

/** Success `data` of the legacy `POST /chat_sessions`. */
export type LegacySession = {
	session_id: string;
	agent_name: string;
	/** Without a UTC offset. */
	started_at: string;
	welcome_message: string;
};

/** Body of the legacy `POST /chat_messages/send_message`. */
export type LegacySendMessageRequest = {
	agent_uuid: string;
	chat_session_id: string;
	message: string;
};

/** Success `data` of the legacy `send_message`. */
export type LegacyReply = {
	session_id: string;
	response: string;
	tool_calls: JsonValue[];
	tool_results: JsonValue[];
	current_state: JsonValue;
};

/** Body of the legacy `close_session` and `pause_session`. */
export type LegacySessionRequest = { agent_uuid: string };

/** Success `data` of the legacy `close_session`. */
export type LegacyClosedSession = { session_id: string; summary: string };

/** Success `data` of the legacy `pause_session`. */
export type LegacyPausedSession = { session_id: string; message: string };
