import { OtherRecord } from '../errors';
import { hasAnyField, either, hasCount, hasId, isSameId, recordOf } from '../envelope';
import type { ApiResponse } from '../http';
import type { ApiClient } from '../client';
import type { CampaignContactsRequest } from '../types';
import { isJsonObject } from '../../json';
import { segment, withAdditions, type Additions } from './endpoint';

/** Fields that show which rows are in the campaign. They count at any position in the response. */
export const CONTACTS_RESPONSE_FIELDS = [
	'campaign_upload_id',
	'contacts_received',
	'contacts_accepted',
	'duplicates_removed',
	'enqueued',
	'queued_calls',
	'engine_skipped_duplicates',
	'dnd_skipped',
] as const;

/**
 * `POST /v1/campaigns/{id}/contacts`. The ID of a contact list or a count of accepted contacts proves success.
 *
 * @param contacts as JSON, separated by commas, because 10,000 objects need much memory
 */
export async function pushContacts(
	client: ApiClient,
	campaignId: number,
	body: Omit<CampaignContactsRequest, 'contacts'>,
	contacts: Buffer,
	additions: Additions = {},
): Promise<ApiResponse> {
	const path = `/v1/campaigns/${segment(campaignId)}/contacts`;
	const list = { field: 'contacts', entries: contacts };
	const request = withAdditions({ method: 'POST', path, body, list }, additions);
	const successCheck = either(hasId('campaign_upload_id'), hasCount('contacts_accepted'));
	return await client.send(request, successCheck, {
		effectFields: ['campaign_upload_id', 'contacts_accepted', 'queued_calls'],
	});
}

/**
 * `GET /v1/campaigns/{id}/status`: cheap to poll.
 *
 * @throws OtherRecord if the response is about another campaign
 */
export async function getCampaignStatus(
	client: ApiClient,
	campaignId: number,
	additions: Additions = {},
): Promise<ApiResponse> {
	const path = `/v1/campaigns/${segment(campaignId)}/status`;
	const request = withAdditions({ method: 'GET', path }, additions);
	const response = await client.send(request, hasAnyField('campaign', 'calls', 'uploads'));
	const { campaign } = recordOf(response);
	const returned = isJsonObject(campaign) ? campaign.id : undefined;
	if (isSameId(returned, campaignId)) return response;
	throw new OtherRecord('campaign', String(campaignId));
}
