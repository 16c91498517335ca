import { callId, fixtures, UNUSUAL } from '../../simulator/state/fixtures';
import type { Dialect } from '../../simulator';
import { LIST, pagesOf } from '../callPages';
import type { ContractCase } from '../contractCase';

const { agents, campaigns, uploads } = fixtures;
const withIds = (...numbers: number[]) => numbers.map((number) => ({ call_id: callId(number) }));

/** Whether the list has something else than calls. */
const hidesCalls = ({ calls: { entries } }: Dialect) => entries.itemPath !== undefined;

/** Get Call → Get Many. */
export const listCalls: ContractCase[] = [
	{
		title: 'finds calls by every filter, across all pages',
		parameters: {
			operation: 'getMany',
			returnAll: true,
			filters: {
				status: 'picked',
				agentUuid: agents.full,
				campaignId: campaigns.active,
				campaignUploadId: uploads.completed,
				phone: '98765',
			},
		},
		requests: pagesOf(16),
		output: withIds(38, 36, 34, 32, 28, 26, 24, 22, 18, 16, 14, 12, 8, 6, 2, 1),
		verify: ({ requests, dialect: { calls } }) =>
			expect(requests[0]?.query).toMatchObject({
				[calls.filters.status]: 'picked',
				[calls.filters.agent]: agents.full,
				[calls.filters.campaign]: String(campaigns.active),
				[calls.filters.phone]: '98765',
				campaign_upload_id: String(uploads.completed),
			}),
	},
	{
		title: 'reads every call once, across all pages',
		parameters: { operation: 'getMany', returnAll: true },
		requests: pagesOf(40),
		output: withIds(...Array.from({ length: 40 }, (_, index) => 40 - index)),
	},
	{
		title: 'finds calls with an undocumented status',
		parameters: { operation: 'getMany', returnAll: true, filters: { status: UNUSUAL.status } },
		requests: pagesOf(1),
		output: withIds(4),
	},
	{
		title: 'sends a time range in the form that the service accepts',
		parameters: {
			operation: 'getMany',
			returnAll: true,
			...{ period: 'between', from: '2020-01-01T10:00:00+05:30', to: '2020-01-02T10:00:00+05:30' },
		},
		requests: [LIST],
		output: [],
		verify: ({ requests, dialect: { calls } }) => {
			const time = calls.dateForm === 'date' ? '' : 'T10:00:00+05:30';
			const { filters } = calls;
			expect(requests[0]?.query).toEqual({
				[filters.from]: `2020-01-01${time}`,
				[filters.to]: `2020-01-02${time}`,
			});
		},
	},
	{
		title: 'stops at the limit',
		parameters: { operation: 'getMany', limit: 3, output: 'raw' },
		requests: [LIST],
		output: withIds(40, 39, 38),
	},
	{
		title: 'returns each person once from the whole list, which it reads once',
		parameters: {
			...{ operation: 'getUnreached', statuses: 'not_picked, failed', hoursBetween: 0 },
			...{ periodDays: 3_650, maximumAttempts: 100 },
		},
		requests: pagesOf(40),
		verify: (_simulator, items) => {
			const keys = items.map(({ json }) => json.phone_key);
			expect(keys.length).toBeGreaterThan(0);
			expect(new Set(keys).size).toBe(keys.length);
		},
	},
	{
		title: 'returns the calls of the first page if the profile does not show the list',
		profile: () => ({ calls: {} }),
		parameters: { operation: 'getMany', limit: 3, output: 'raw' },
		requests: [LIST],
		// Under keys or in other objects, they could be anything.
		rejection: (dialect) =>
			hidesCalls(dialect) ? "The response doesn't have exactly one list of calls" : undefined,
		output: (dialect) => (hidesCalls(dialect) ? [] : withIds(40, 39, 38)),
	},
];
