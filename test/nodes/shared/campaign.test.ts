import {
	isCompleted,
	isIdle,
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

test.each<[string, JsonValue]>([
	['nothing', {}],
	['a list in its place', []],
	['other types', { campaign: 'x', calls: [], uploads: 'none' }],
	['a status that is no text', { campaign: { status: 7 } }],
])('%s stays open', (_what, data) => {
	expect(viewCampaign(data)).toMatchObject({ status: undefined, calls: undefined, lists: [] });
});

test('counts that are none are left out', () => {
	const { calls } = viewCampaign({ calls: { total: '9', by_status: [] } });
	expect(calls).toEqual({ total: undefined, byStatus: {} });
});

test.each<[string, ContactList, { completed: boolean; released: boolean; idle: boolean }]>([
	['no queue', listOf(), { completed: false, released: false, idle: true }],
	['an empty queue', listOf(queue(0, false)), { completed: false, released: false, idle: true }],
	['contacts', listOf(queue(5, false)), { completed: false, released: true, idle: false }],
	[
		'a count that is left out',
		listOf(queue(null, false)),
		{ completed: false, released: true, idle: false },
	],
	['a finished queue', listOf(queue(0, true)), { completed: true, released: true, idle: true }],
	[
		'a finished and an open one',
		listOf(queue(5, true), queue(5, false)),
		{ completed: false, released: true, idle: false },
	],
])('a contact list with %s', (_what, list, { completed, released, idle }) => {
	expect([isCompleted(list), isReleased(list), isIdle(list)]).toEqual([completed, released, idle]);
});

test('Simplify gives one flat record', () => {
	expect(simplifyCampaign(viewCampaign(STATUS))).toEqual({
		campaign_id: 42,
		name: 'Leads',
		status: 'Active',
		attempts_total: 9,
		attempts_picked: 6,
		attempts_failed: 3,
		contacts_queued: 12,
		lists_total: 3,
		lists_queued: 2,
		lists_completed: 1,
	});
	expect(simplifyCampaign(viewCampaign({}))).toMatchObject({
		campaign_id: null,
		name: null,
		status: null,
		attempts_total: null,
		contacts_queued: 0,
	});
});
