import type { JsonObject, JsonValue } from '../../json';

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

/** Success `data` of `POST /v1/campaigns/{id}/contacts`. */
export type CampaignContactsResult = {
	campaign_upload_id: number;
	contacts_received: number;
	contacts_accepted: number;
	duplicates_removed: number;
	enqueued: boolean;
	queued_calls: number;
	/** Phone numbers that the calling engine skipped as duplicates. */
	engine_skipped_duplicates: string[];
	/** Objects. Their fields aren't documented. */
	dnd_skipped: JsonValue[];
	/** The shape of an item isn't documented. */
	warnings: JsonValue[];
};

/** `data` of `GET /v1/campaigns/{id}/status`. */
export type CampaignStatusResult = {
	campaign: Campaign;
	/** Counts attempts, not contacts. */
	calls: { total: number; by_status: { [statusKey: string]: number } };
	uploads: CampaignUpload[];
};

/** Resources › Campaign. */
export type Campaign = {
	id: number;
	name: string;
	/** `Draft`, `Active`, `Paused` or `Archived`. */
	status: string;
	is_retry_enabled: boolean;
	retry_threshold: number;
	/** The unit isn't documented. */
	retry_delay: number;
	created_at: string;
};

/** Resources › Campaign upload (contact list). */
export type CampaignUpload = {
	campaign_upload_id: number;
	file_name: string;
	agent_uuid: string;
	created_at: string;
	queues: Array<{ agent_uuid: string; total_queued: number; completed: boolean }>;
};
