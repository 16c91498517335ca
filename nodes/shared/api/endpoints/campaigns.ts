import { carries } from '../evidence';
import type { Answer } from '../http';
import type { ApiClient } from '../client';
import type { CampaignContactsRequest } from '../types';
import { segment, withAdditions, type Additions } from './endpoint';

/**
 * `POST /v1/campaigns/{id}/contacts`; taken when the answer names the contact list or counts what it accepted.
 *
 * @param contacts as JSON, with commas in between: 10,000 of them are large as objects
 */
export async function pushContacts(
	client: ApiClient,
	campaignId: number,
	body: Omit<CampaignContactsRequest, 'contacts'>,
	contacts: Buffer,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/campaigns/${segment(campaignId)}/contacts`;
	const list = { field: 'contacts', entries: contacts };
	const request = withAdditions({ method: 'POST', path, body, list }, additions);
	return await client.send(request, carries('campaign_upload_id', 'contacts_accepted'));
}

/** `GET /v1/campaigns/{id}/status`; cheap to poll. */
export async function getCampaignStatus(
	client: ApiClient,
	campaignId: number,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/campaigns/${segment(campaignId)}/status`;
	const request = withAdditions({ method: 'GET', path }, additions);
	return await client.send(request, carries('campaign', 'calls', 'uploads'));
}
