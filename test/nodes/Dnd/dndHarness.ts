import type { INodeParameters } from 'n8n-workflow';
import { nodeHarness } from '../nodeHarness';

export const AGENT = { __rl: true, mode: 'id', value: 'agent_a1' };

/** A profile with a different name for each value. */
export const PROFILE = {
	'dnd.add': {
		body: { add_agent: '{agent}', add_phone: '{phone}', add_reason: '{reason?}' },
	},
	'dnd.list': {
		query: {
			list_agent: '{agent}',
			list_phone: '{phone?}',
			list_page: '{page?}',
			list_size: '{pageSize?}',
		},
	},
	'dnd.remove': { query: { phone: '{phone}' }, body: { remove_agent: '{agent}' } },
};

export const WITH_PROFILE = { serviceProfile: PROFILE };

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
