// Written by `npm run contract:types` from docs/openapi.yaml.
import type { JsonValue } from '../values/json';

export type CallRequest = {
	agent_uuid: AgentUuid;
	phone_number: string;
	country_code: string;
	system_prompt?: string;
	webhook_url?: string;
	person_name?: string;
	additional_data?: {
		[key: string]: JsonValue;
	};
	initial_greeting?: string;
	call_config_overrides?: CallConfigOverrides;
	data_extraction?: DataExtractionItem[];
	scheduled_at?: string;
};

export type AgentUuid = string;

export type CallConfigOverrides = {
	max_call_duration_seconds?: number;
	enable_callback?: boolean;
	retry_config?: {
		enabled?: boolean;
		max_attempts?: number;
		interval_minutes?: number;
	};
};

export type DataExtractionItem = {
	key?: string;
	description: string;
	required?: boolean;
	output_format?: string;
};

export type ContactsRequest = {
	agent_uuid: AgentUuid;
	contacts: Contact[];
	enqueue?: boolean;
};

export type Contact = {
	person_name?: string;
	phone: string;
} & {
	[key: string]: JsonValue;
};

export type LegacyMessage = {
	agent_uuid: AgentUuid;
	chat_session_id: string;
	message: string;
};
