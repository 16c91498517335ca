import { simplifyCampaign, viewCampaign } from '../../../../nodes/core/campaigns/campaign';
import type { JsonObject, JsonValue } from '../../../../nodes/core/values/json';

const simplified = (status: JsonObject) => simplifyCampaign(viewCampaign(status));
const queue = (total_queued: number | null, completed: boolean): JsonObject => ({
	agent_uuid: 'agent_a',
	total_queued,
	completed,
});
const listsOf = (...queues: JsonValue[]) => [{ campaign_upload_id: 7, queues }];

// A whole record: test/contract/cases/campaignStatus.ts
test.each<[string, JsonValue]>([
	['nothing', {}],
	['a list in its place', []],
	['other types', { campaign: 'x', calls: [], uploads: 'none' }],
])('%s: what the response lacks is null', (_what, data) => {
	const { status, calls, uploads } = viewCampaign(data);
	expect([status, calls, uploads]).toEqual([undefined, undefined, undefined]);
	expect(simplifyCampaign(viewCampaign(data))).toMatchObject({
		...{ campaign_id: null, name: null, status: null, attempts_total: null },
		...{ connect_rate: null, contacts_queued: null, attempts_per_contact: null },
		...{ lists_total: null, lists_queued: null, lists_completed: null },
	});
});

test("leaves out what isn't a list, a queue, a number, or a text", () => {
	expect(viewCampaign({ campaign: { status: 7 } }).status).toBeUndefined();
	const uploads = [null, 'x', ...listsOf(null, 3, queue(5, true))];
	const lists = viewCampaign({ uploads }).uploads;
	expect(lists?.map(({ id, queues }) => [id, queues.length])).toEqual([['7', 1]]);
	const callsOf = (calls: JsonObject) => viewCampaign({ calls }).calls;
	expect(callsOf({ total: 'nine', by_status: [] })).toEqual({});
	expect(callsOf({ by_status: { picked: '8', failed: null, other: 'x' } })).toEqual({
		byStatus: { picked: 8 },
	});
});

test.each<[string, JsonValue[], lists_queued: number, lists_completed: number]>([
	['no queue', [], 0, 0],
	['an empty queue', [queue(0, false)], 0, 0],
	['contacts', [queue(5, false)], 1, 0],
	['a count that is left out', [queue(null, false)], 1, 0],
	['a finished queue', [queue(0, true)], 1, 1],
	['a finished queue and another one', [queue(5, true), queue(5, false)], 1, 0],
])('a contact list with %s', (_what, queues, lists_queued, lists_completed) => {
	expect(simplified({ uploads: listsOf(...queues) })).toMatchObject({
		lists_queued,
		lists_completed,
	});
});

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
])('the share of the attempts that were picked up, of %j: %p', (calls, connect_rate) => {
	expect(simplified({ calls })).toMatchObject({ connect_rate });
});

test.each<[JsonValue, contacts_queued: number | null, attempts_per_contact: number | null]>([
	[[], 0, null],
	[[{ queues: [] }], 0, null],
	[[...listsOf(queue(4, true)), ...listsOf(queue(2, false))], 6, 1.5],
	[listsOf(queue(27, false)), 27, 0.3333],
	[listsOf(queue(0, true)), 0, null],
	[listsOf(queue(4, true), queue(null, false)), null, null],
	[listsOf({ total_queued: '3' }), null, null],
	[[{ queues: null }, ...listsOf(queue(2, false))], null, null],
	[null, null, null],
])('of nine attempts, %j has %p contacts in queues, %p attempts each', (...one) => {
	const [uploads, contacts_queued, attempts_per_contact] = one;
	expect(simplified({ calls: { total: 9 }, uploads })).toMatchObject({
		contacts_queued,
		attempts_per_contact,
	});
	expect(simplified({ calls: {}, uploads })).toMatchObject({ attempts_per_contact: null });
});
