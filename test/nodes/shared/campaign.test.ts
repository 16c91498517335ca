import {
	isCompleted,
	isReleased,
	simplifyCampaign,
	viewCampaign,
	type ContactList,
} from '../../../nodes/shared/campaign';
import type { JsonValue } from '../../../nodes/shared/json';

const queue = (total_queued: number | null, completed: boolean): JsonValue => ({
	agent_uuid: 'agent_a',
	total_queued,
	completed,
});
const listOf = (...queues: JsonValue[]): ContactList => {
	const [list] = viewCampaign({ uploads: [{ campaign_upload_id: 7, queues }] }).lists;
	if (list === undefined) throw new Error('no list was read');
	return list;
};

const STATUS: JsonValue = {
	campaign: { id: 42, name: 'Leads', status: 'Active' },
	calls: { total: 9, by_status: { picked: 6, failed: 3, odd: 'x' } },
	uploads: [
		{ campaign_upload_id: 7, queues: [queue(5, true)] },
		{ campaign_upload_id: 8, queues: [queue(4, false), queue(3, true)] },
		{ campaign_upload_id: 9, queues: [] },
	],
};

test('a status is read by its documented names', () => {
	const { status, calls, lists } = viewCampaign(STATUS);
	expect([status, calls]).toEqual(['Active', { total: 9, byStatus: { picked: 6, failed: 3 } }]);
	expect(lists.map(({ id, queues }) => [id, queues.length])).toEqual([
		['7', 1],
		['8', 2],
		['9', 0],
	]);
	expect(lists[0]?.queues[0]).toMatchObject({
		agentUuid: 'agent_a',
		totalQueued: 5,
		isEmpty: false,
		completed: true,
	});
});

test("ignores values that aren't a list or a queue", () => {
	const uploads = [null, 'x', { campaign_upload_id: 7, queues: [null, 3, queue(5, true)] }];
	const { lists } = viewCampaign({ uploads });
	expect(lists.map(({ id, queues }) => [id, queues.length])).toEqual([['7', 1]]);
});

test.each<[string, JsonValue]>([
	['nothing', {}],
	['a list in its place', []],
	['other types', { campaign: 'x', calls: [], uploads: 'none' }],
	['a status that is no text', { campaign: { status: 7 } }],
])('%s stays open', (_what, data) => {
	expect(viewCampaign(data)).toMatchObject({ status: undefined, calls: undefined, lists: [] });
});

test("leaves out counts that aren't numbers", () => {
	const { calls } = viewCampaign({ calls: { total: '9', by_status: [] } });
	expect(calls).toEqual({ total: undefined, byStatus: undefined });
});

test.each<[string, ContactList, { completed: boolean; released: boolean }]>([
	['no queue', listOf(), { completed: false, released: false }],
	['an empty queue', listOf(queue(0, false)), { completed: false, released: false }],
	['contacts', listOf(queue(5, false)), { completed: false, released: true }],
	['a count that is left out', listOf(queue(null, false)), { completed: false, released: true }],
	['a finished queue', listOf(queue(0, true)), { completed: true, released: true }],
	[
		'a finished and an open one',
		listOf(queue(5, true), queue(5, false)),
		{ completed: false, released: true },
	],
])('a contact list with %s', (_what, list, { completed, released }) => {
	expect([isCompleted(list), isReleased(list)]).toEqual([completed, released]);
});

test('Simplify gives one flat record', () => {
	expect(simplifyCampaign(viewCampaign(STATUS))).toEqual({
		campaign_id: 42,
		name: 'Leads',
		status: 'Active',
		attempts_total: 9,
		attempts_picked: 6,
		attempts_failed: 3,
		connect_rate: 0.6667,
		contacts_queued: 12,
		attempts_per_contact: 0.75,
		lists_total: 3,
		lists_queued: 2,
		lists_completed: 1,
	});
	expect(simplifyCampaign(viewCampaign({}))).toMatchObject({
		campaign_id: null,
		name: null,
		status: null,
		attempts_total: null,
		connect_rate: null,
		contacts_queued: 0,
		attempts_per_contact: null,
	});
});

describe('the share of the attempts that were picked up', () => {
	test.each<[JsonValue, number | null]>([
		[{ total: 8, by_status: { picked: 2, not_picked: 6 } }, 0.25],
		[{ total: 3, by_status: { picked: 3 } }, 1],
		[{ total: 3, by_status: { picked: 0, not_picked: 3 } }, 0],
		[{ total: 10, by_status: { picked: 2, in_talk: 1 } }, 0.2],
		// The counts add up to the total, so nobody picked up.
		[{ total: 5, by_status: { not_picked: 3, failed: 2 } }, 0],
		// Some may have been picked up under another name.
		[{ total: 5, by_status: { not_picked: 3, answered: 2 } }, null],
		[{ total: 5, by_status: {} }, null],
		[{ total: 5 }, null],
		[{ total: 0, by_status: {} }, null],
		[{ total: 0, by_status: { picked: 0 } }, null],
		[{ by_status: { picked: 2, not_picked: 6 } }, null],
		[{ total: '8', by_status: { picked: 2 } }, null],
		[{ total: 1, by_status: { picked: 2 } }, null],
		[null, null],
	])('%j: %p', (calls, connect_rate) => {
		expect(simplifyCampaign(viewCampaign({ calls }))).toMatchObject({ connect_rate });
	});
});

describe('attempts per contact', () => {
	test.each<[JsonValue[], number | null]>([
		[[queue(4, true), queue(2, false)], 1.5],
		[[queue(27, false)], 0.3333],
		[[queue(4, true), queue(null, false)], null],
		[[queue(0, true)], null],
		[[], null],
	])('nine for %j: %p', (queues, attempts_per_contact) => {
		const status = { calls: { total: 9 }, uploads: [{ queues }] };
		expect(simplifyCampaign(viewCampaign(status))).toMatchObject({ attempts_per_contact });
		const uncounted = { ...status, calls: {} };
		expect(simplifyCampaign(viewCampaign(uncounted)).attempts_per_contact).toBeNull();
	});
});
