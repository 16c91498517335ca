import range from 'lodash/range';
import { findEntry, readDndList } from '../../../../../nodes/shared/service/dnd/dndList';
import type { Query, ServiceRequest } from '../../../../../nodes/shared/service/core/http';
import { OpenDetails } from '../../../../../nodes/shared/service/openDetails';
import { phoneKey } from '../../../../../nodes/shared/service/dnd/phoneMatch';
import { Service } from '../../../../../nodes/shared/service/core/service';
import type { JsonObject } from '../../../../../nodes/shared/service/types';

const NAMES = {
	dndListAgentName: 'ag',
	dndListPhoneName: 'ph',
	dndListPageName: 'p',
	dndListPerPageName: 'n',
};
const REQUEST = { agentUuid: 'agent_a1', limit: Infinity };
const entries = (from: number, to: number) =>
	range(from, to).map((id) => ({ id, phone: `+9198${id}` }));

function listing(answer: (query: Query) => unknown) {
	const asked: Query[] = [];
	const transport = async ({ query = {} }: ServiceRequest) => {
		asked.push(query);
		await Promise.resolve();
		return { status: 200, headers: {}, text: JSON.stringify(answer(query)) };
	};
	const clock = { now: () => 0, sleep: async () => await Promise.resolve() };
	return { asked, service: new Service(transport, clock, () => 0) };
}

const paged = (first: number) =>
	listing(({ p = first }) => {
		const start = 4 * (Number(p) - first);
		const meta = { current_page: Number(p), total_pages: 2 + first, total_count: 8, per_page: 4 };
		return { success: true, data: entries(start, start + 4), meta };
	});

describe('the pages', () => {
	test('over meta, whichever number the first page has', async () => {
		const fromOne = paged(1);
		const details = new OpenDetails(NAMES);
		expect(await readDndList(fromOne.service, { ...REQUEST, limit: 8 }, details)).toHaveLength(8);
		expect(fromOne.asked).toEqual([{ ag: 'agent_a1' }, { ag: 'agent_a1', p: 2 }]);
		const fromZero = paged(0);
		expect(await readDndList(fromZero.service, { ...REQUEST, limit: 8 }, details)).toHaveLength(8);
		expect(fromZero.asked[1]).toEqual({ ag: 'agent_a1', p: 1 });
	});

	test('a limit ends the reading', async () => {
		const { service, asked } = paged(1);
		const request = { ...REQUEST, limit: 3, pageSize: 3, phone: '98' };
		expect(await readDndList(service, request, new OpenDetails(NAMES))).toEqual(entries(0, 3));
		expect(asked).toEqual([{ ag: 'agent_a1', n: 3, ph: '98' }]);
	});

	test('an answer without meta is one page', async () => {
		const { service, asked } = listing(() => ({ success: true, data: entries(0, 4) }));
		expect(await readDndList(service, REQUEST, new OpenDetails(NAMES))).toHaveLength(4);
		expect(asked).toHaveLength(1);
	});

	test('a service that does not know the page parameter is told', async () => {
		const meta = { current_page: 1, total_pages: 9 };
		const { service, asked } = listing(() => ({ data: entries(0, 4), meta }));
		await expect(readDndList(service, REQUEST, new OpenDetails(NAMES))).rejects.toMatchObject({
			todo: expect.stringContaining('List: Name of the Page Parameter'),
		});
		expect(asked).toHaveLength(2);
	});

	test('an answer without a list', async () => {
		const { service } = listing(() => ({ success: true, data: {} }));
		await expect(readDndList(service, REQUEST, new OpenDetails(NAMES))).rejects.toThrow(
			'The answer holds no list of numbers',
		);
	});

	test.each([
		[{}, REQUEST, 'List: Name of the Agent Parameter'],
		[{ dndListAgentName: 'a' }, { ...REQUEST, phone: '98' }, 'List: Name of the Phone Filter'],
		[
			{ dndListAgentName: 'a' },
			{ ...REQUEST, pageSize: 9 },
			'List: Name of the Page Size Parameter',
		],
	])('a missing open detail stops before anything is sent: %p', async (details, request, label) => {
		const { service, asked } = paged(1);
		await expect(readDndList(service, request, new OpenDetails(details))).rejects.toThrow(label);
		expect(asked).toEqual([]);
	});
});

describe('the comparison', () => {
	test.each([
		['+919812345678', '9812345678'],
		['919812345678', '9812345678'],
		['09812345678', '9812345678'],
		['9812345678', '9812345678'],
		['+12025550143', '12025550143'],
		['12025550143', '12025550143'],
		['+911123456789', '1123456789'],
	])('%s is known as %s', (phone, key) => expect(phoneKey(phone)).toBe(key));

	test('only the very number counts, others are shown beside it', () => {
		const list: JsonObject[] = [{ phone: '+9198123456780' }, { phone: '+919812345678' }, { id: 1 }];
		expect(findEntry('98123 45678', list)).toEqual({
			listed: true,
			entry: { phone: '+919812345678' },
			similar: [{ phone: '+9198123456780' }, { id: 1 }],
		});
		expect(findEntry('+19812345678', list)).toMatchObject({ listed: false, entry: null });
	});
});
