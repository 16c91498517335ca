import type { JsonObject } from '../../json';

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

/** `data` of a placed call (Endpoints › POST /v1/call). */
export type PlacedCall = {
	/** Included later in the completion webhook payload. */
	call_id: string;
	/** Only when `scheduled_at` was sent. */
	scheduled_at: string;
	/** Epoch seconds; only when `scheduled_at` was sent. */
	scheduled_at_epoch: number;
};

/** `data` of `GET /v1/call/{id}` (Resources › Call record). */
export type CallRecord = {
	call_id: string;
	agent_uuid: string;
	agent_name: string;
	/** Destination, international form with leading `+`. */
	phone_number: string;
	from_number: string;
	/** Observed: `picked`, `not_picked`, `failed`; other values aren't documented. */
	status: string;
	call_type: string;
	channel: string;
	duration_seconds: number;
	call_ended_by: string;
	call_ended_reason: string;
	call_ended_reason_message: string;
	campaign_id: number;
	/** The contact list the call came from. */
	campaign_upload_id: number;
	tag: { id: number; name: string; color_code: string };
	created_at: string;
	call_picked_at: string;
	/** The person called. */
	caller_name: string;
	retry_count: number;
	summary: string;
	/** Values extracted during the call, with any keys. */
	data_captured: JsonObject;
	/** Any keys. Observed: `sentiment`, `callback_required`. */
	post_call_analysis: JsonObject;
};

/** `data` of `GET /v1/call/{id}/transcript` (Resources › Transcript). Empty if none was captured. */
export type Transcript = {
	call_id: string;
	transcript: TranscriptTurn[];
};

export type TranscriptTurn = {
	/** Observed: `assistant`; other values aren't documented. */
	role: string;
	content: string;
	timestamp: string;
};

/** `data` of `GET /v1/call/{id}/recording` (Resources › Recording). */
export type Recording = {
	call_id: string;
	/** Presigned URL, valid for 900 seconds. */
	recording_url: string;
	expires_in_seconds: number;
};
