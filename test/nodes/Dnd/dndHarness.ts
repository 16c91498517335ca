import type { INodeParameters } from 'n8n-workflow';
import { nodeHarness } from '../nodeHarness';

export const AGENT = { __rl: true, mode: 'id', value: 'agent_a1' };

/** An API mapping with a different name for each value. */
export const DETAILS = {
	describeDnd: true,
	dndAddPlacement: 'body',
	dndAddAgentName: 'add_agent',
	dndAddPhoneName: 'add_phone',
	dndAddReasonName: 'add_reason',
	dndListAgentName: 'list_agent',
	dndListPhoneName: 'list_phone',
	dndListPageName: 'list_page',
	dndListPerPageName: 'list_size',
	dndRemovePhonePlacement: 'query',
	dndRemoveAgentPlacement: 'body',
	dndRemoveAgentName: 'remove_agent',
};

export const dndHarness = (operation: string, base: INodeParameters = {}) =>
	nodeHarness('dnd', { operation, agentUuid: AGENT, ...base });

export const PATH = '/v1/dnd_numbers';

export const entry = (phone: string) => ({
	id: phone,
	agent_uuid: 'agent_a1',
	phone,
	reason: 'asked',
	created_at: '2026-10-01T10:00:00+05:30',
});

/** A list with these numbers, in one page. */
export const listOf = (...phones: string[]) => ({
	success: true,
	data: phones.map(entry),
	meta: { current_page: 1, total_pages: 1, total_count: phones.length, per_page: 100 },
});
