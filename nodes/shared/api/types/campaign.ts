import type { JsonObject } from '../../json';

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
