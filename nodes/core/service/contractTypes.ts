// Written by `npm run contract:types` from docs/openapi.yaml.
import type { JsonValue } from '../values/json';

export interface components {
	schemas: {
		CallRequest: {
			agent_uuid: components['schemas']['AgentUuid'];
			/**
			 * @description The national number. The service normalizes it, and checks it for the country. Two readings: a leading trunk
			 *     zero is accepted, or it isn't.
			 * @example 9876543210
			 */
			phone_number: string;
			/**
			 * @description ISO 3166-1 alpha-2, of an existing country. Two readings: only upper case, or any.
			 * @example IN
			 */
			country_code: string;
			/** @description Replaces the agent's system prompt in this call */
			system_prompt?: string;
			/**
			 * Format: uri
			 * @description An HTTP or HTTPS URL with a host, to which the completed call is sent. Needs post-call analysis.
			 */
			webhook_url?: string;
			/** @description Whom the agent calls */
			person_name?: string;
			/** @description Any keys and values for the agent */
			additional_data?: {
				[key: string]: JsonValue;
			};
			/**
			 * @description What the agent says first. Readings of the length: code points, UTF-16 units, or bytes. The bound is in code
			 *     points, which allow the most.
			 */
			initial_greeting?: string;
			call_config_overrides?: components['schemas']['CallConfigOverrides'];
			/** @description What the agent tries to find out */
			data_extraction?: components['schemas']['DataExtractionItem'][];
			/**
			 * @description When to call. A time of day in India, or a time with its date and offset.
			 * @example 18:30
			 * @example 2030-01-31T18:30:00+05:30
			 */
			scheduled_at?: string;
		};
		/**
		 * @description An agent of the token's account
		 * @example agent_5f2c9a
		 */
		AgentUuid: string;
		/** @description Settings of the agent that apply to this call */
		CallConfigOverrides: {
			/** @description The call ends after this time. */
			max_call_duration_seconds?: number;
			/** @description Whether the person called may request a callback */
			enable_callback?: boolean;
			/** @description What happens if nobody answers */
			retry_config?: {
				/** @description Whether the service calls again */
				enabled?: boolean;
				max_attempts?: number;
				interval_minutes?: number;
			};
		};
		DataExtractionItem: {
			/** @description The name of the value in the result */
			key?: string;
			/** @description What the agent should ask for or extract */
			description: string;
			/** @description Whether the call is only successful with this value */
			required?: boolean;
			/**
			 * @description How the value should look, in words
			 * @example yes or no
			 */
			output_format?: string;
		};
		ContactsRequest: {
			/** @description The agent that calls these contacts */
			agent_uuid: components['schemas']['AgentUuid'];
			contacts: components['schemas']['Contact'][];
			/**
			 * @description Whether the agent may call these contacts now
			 * @default false
			 */
			enqueue?: boolean;
		};
		/** @description Any other key becomes a variable of the agent's prompt. */
		Contact: {
			person_name?: string;
			/**
			 * @description A mobile number of India, with or without +91. Two readings: after +91, the number also starts with 6 to 9,
			 *     or with any digit.
			 * @example 9876543210
			 * @example +919876543210
			 */
			phone: string;
		} & {
			[key: string]: JsonValue;
		};
		LegacyMessage: {
			agent_uuid: components['schemas']['AgentUuid'];
			/** @example 0f8fad5b-d9cb-469f-a165-70867728950e */
			chat_session_id: string;
			/** @description What the customer says */
			message: string;
		};
	};
	responses: never;
	parameters: never;
	requestBodies: never;
	headers: never;
	pathItems: never;
}
export type CallRequest = components['schemas']['CallRequest'];
export type AgentUuid = components['schemas']['AgentUuid'];
export type CallConfigOverrides = components['schemas']['CallConfigOverrides'];
export type DataExtractionItem = components['schemas']['DataExtractionItem'];
export type ContactsRequest = components['schemas']['ContactsRequest'];
export type Contact = components['schemas']['Contact'];
export type LegacyMessage = components['schemas']['LegacyMessage'];
