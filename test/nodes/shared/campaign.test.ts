import { simplifyCampaign, viewCampaign } from '../../../nodes/shared/campaign';
import type { JsonValue } from '../../../nodes/shared/json';

const queue = (total_queued: number | null, completed: boolean): JsonValue => ({
	agent_uuid: 'agent_a',
	total_queued,
	completed,
});

test("ignores values that aren't a list or a queue", () => {
	const { uploads } = viewCampaign({
		uploads: [null, 'x', { campaign_upload_id: 7, queues: [null, 3, queue(5, true)] }],
	});
	expect(uploads.map(({ id, queues }) => [id, queues.length])).toEqual([['7', 1]]);
});

test.each<[string, JsonValue]>([
	['nothing', {}],
	['a list in its place', []],
	['other types', { campaign: 'x', calls: [], uploads: 'none' }],
	['a status that is no text', { campaign: { status: 7 } }],
])('%s stays open', (_what, data) => {
	expect(viewCampaign(data)).toMatchObject({ status: undefined, calls: undefined, uploads: [] });
});

test("leaves out counts that aren't numbers", () => {
	const { calls } = viewCampaign({ calls: { total: 'nine', by_status: [] } });
	expect(calls).toEqual({ total: undefined, byStatus: undefined });
	const by_status = { picked: '8', failed: null, other: 'x' };
	expect(viewCampaign({ calls: { by_status } }).calls?.byStatus).toEqual({ picked: 8 });
});

test.each<[string, JsonValue[], { released: number; completed: number }]>([
	['no queue', [], { released: 0, completed: 0 }],
	['an empty queue', [queue(0, false)], { released: 0, completed: 0 }],
	['contacts', [queue(5, false)], { released: 1, completed: 0 }],
	['a count that is left out', [queue(null, false)], { released: 1, completed: 0 }],
	['a finished queue', [queue(0, true)], { released: 1, completed: 1 }],
	['a finished and an open one', [queue(5, true), queue(5, false)], { released: 1, completed: 0 }],
])('a contact list with %s', (_what, queues, { released, completed }) => {
	const view = viewCampaign({ uploads: [{ campaign_upload_id: 7, queues }] });
	expect(simplifyCampaign(view)).toMatchObject({
		lists_queued: released,
		lists_completed: completed,
	});
});

// A whole record: test/contract/cases/campaignStatus.ts
test('Simplify gives null for what the response lacks', () => {
	expect(simplifyCampaign(viewCampaign({}))).toMatchObject({
		campaign_id: null,
		name: null,
		status: null,
		attempts_total: null,
		connect_rate: null,
		contacts_queued: null,
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
		[{ total: '8', by_status: { picked: 2 } }, 0.25],
		[{ total: 1, by_status: { picked: 2 } }, null],
		[null, null],
	])('%j: %p', (calls, connect_rate) => {
		expect(simplifyCampaign(viewCampaign({ calls }))).toMatchObject({ connect_rate });
	});
});

test.each<[JsonValue, number | null]>([
	[[], 0],
	[[{ queues: [] }], 0],
	[[{ queues: [queue(4, true)] }, { queues: [queue(2, false)] }], 6],
	[null, null],
	[[{ queues: null }, { queues: [queue(2, false)] }], null],
	[[{ queues: [{ total_queued: '3' }] }], null],
])('contacts in the queues of %j: %p', (uploads, contacts_queued) => {
	expect(simplifyCampaign(viewCampaign({ uploads }))).toMatchObject({ contacts_queued });
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
