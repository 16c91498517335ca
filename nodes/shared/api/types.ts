import type { JsonObject } from '../json';

/** Body of `POST /v1/call` and the legacy `POST /call` (Resources › Call request). */
export type CallRequest = {
	/** Must belong to the account of the token. Otherwise `403`. */
	agent_uuid: string;
	/** Digits only, without country code. */
	phone_number: string;
	/** ISO 3166-1 alpha-2. */
	country_code: string;
	/** Overrides the agent's system prompt for this call only. */
	system_prompt?: string;
	/** HTTP or HTTPS URL with a host. `400` if the agent has no post-call analysis. */
	webhook_url?: string;
	person_name?: string;
	/** Key-value object for the agent. Arrays and scalars are rejected. */
	additional_data?: JsonObject;
	/** At most 2000 characters. */
	initial_greeting?: string;
	call_config_overrides?: CallConfigOverrides;
	data_extraction?: DataExtractionItem[];
	/** `HH:MM` in IST, or ISO 8601 with offset. */
	scheduled_at?: string;
};

/** Per-call overrides, all optional (Call request › `call_config_overrides`). */
export type CallConfigOverrides = {
	/** 30 to 1800. A hard limit on the call's length. */
	max_call_duration_seconds?: number;
	/** Whether the contact may trigger a callback. */
	enable_callback?: boolean;
	/** Automatic retries when the call is not answered. */
	retry_config?: {
		enabled?: boolean;
		/** 1 to 10. */
		max_attempts?: number;
		/** 1 to 1440 minutes. */
		interval_minutes?: number;
	};
};

/** One data point that the agent tries to extract (Call request › `data_extraction`). */
export type DataExtractionItem = {
	key?: string;
	/** Required, non-empty. */
	description: string;
	required?: boolean;
	output_format?: string;
};

/** Item of `contacts` (Resources › Contact). Extra fields are prompt variables for the agent. */
export type Contact = JsonObject & {
	person_name?: string;
	phone: string;
};

/** Body of `POST /v1/campaigns/{id}/contacts`. */
export type CampaignContactsRequest = {
	/** The agent that will place the calls. */
	agent_uuid: string;
	/** At most 10,000. */
	contacts: Contact[];
	/** Whether to release the contacts to the calling queue immediately. The documented default is `false`. */
	enqueue?: boolean;
};

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
