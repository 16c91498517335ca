import type { JsonObject } from '../../json';

/** Body of `POST /v1/chat/session/{id}/inject_context`: one non-empty entry. */
export type InjectContextRequest = { context: string };

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

/** Body of the legacy `POST /chat_messages/send_message`. */
export type LegacySendMessageRequest = {
	agent_uuid: string;
	chat_session_id: string;
	message: string;
};

/** Body of the legacy `close_session` and `pause_session`. */
export type LegacySessionRequest = { agent_uuid: string };
