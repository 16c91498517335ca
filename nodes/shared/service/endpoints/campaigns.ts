import type { Answer } from '../core/http';
import type { Service } from '../core/service';
import type { CampaignContactsRequest } from '../types';
import { segment, withAdditions, type Additions } from './request';

/** `POST /v1/campaigns/{id}/contacts`. */
export async function pushContacts(
	service: Service,
	campaignId: number,
	body: CampaignContactsRequest,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/campaigns/${segment(campaignId)}/contacts`;
	return await service.send(withAdditions({ method: 'POST', path, body }, additions));
}

/** `GET /v1/campaigns/{id}/status`; cheap to poll. */
export async function getCampaignStatus(
	service: Service,
	campaignId: number,
	additions: Additions = {},
): Promise<Answer> {
	const path = `/v1/campaigns/${segment(campaignId)}/status`;
	return await service.send(withAdditions({ method: 'GET', path }, additions));
}
