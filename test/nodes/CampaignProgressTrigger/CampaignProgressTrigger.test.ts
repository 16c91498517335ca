import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { INode, INodeParameters, IPollFunctions, WorkflowExecuteMode } from 'n8n-workflow';
import { isJsonObject, type JsonObject } from '../../../nodes/shared/json';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	activate,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	pollContext,
	service,
} from '../../engine';
import { virtualClock } from '../shared/api/virtualClock';

const harness = engineHarness();
type Request = IPollFunctions['helpers']['httpRequestWithAuthentication'];
const BASE: INodeParameters = {
	campaignId: '42',
	events: ['status_changed', 'queue_completed', 'call_counts_changed'],
	pollTimes: { item: [{ mode: 'everyMinute' }] },
};
const answer = (status = 'Active', total = 5, id = 42) => ({
	success: true,
	data: {
		campaign: { id, status },
		calls: { total, by_status: { picked: total } },
		uploads: [],
	},
});
const endpoint = (id = '42') => service().get(`/v1/campaigns/${id}/status`);

/** A workflow that follows a campaign, as it's published. Its static data outlives each poll, as in n8n. */
function follower(parameters: INodeParameters = {}, id: string = randomUUID(), name = 'Node') {
	const node = harness.node('campaignProgressTrigger', {
		id,
		name,
		parameters: { ...BASE, ...parameters },
	});
	const workflow = makeWorkflow([node]);
	const type = nodeTypes.getByNameAndVersion(node.type, 1);
	const published = pollContext(harness.credentials, workflow, node);
	return {
		workflow,
		look: async (mode: WorkflowExecuteMode = 'trigger', request?: Request) => {
			const context =
				mode === 'trigger' ? published : pollContext(harness.credentials, workflow, node, mode);
			if (request) context.helpers.httpRequestWithAuthentication = request;
			const found = await type.poll?.call(context);
			return found?.[0]?.map(({ json }) => json) ?? null;
		},
		change: (over: INodeParameters) => {
			node.parameters = { ...node.parameters, ...over };
		},
	};
}

let waits: jest.SpyInstance;
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => {
	waits.mockRestore();
});

test('the first poll starts the workflow if set, and sends additional query parameters', async () => {
	const developerSettings = { additionalQueryParameters: '{ "x": "y" }' };
	const { look } = follower({ emitBaseline: true, developerSettings });
	endpoint().query({ x: 'y' }).times(2).reply(200, answer());
	expect(await look()).toEqual([{ event: 'current_state', ...answer().data }]);
	expect(await look()).toBeNull();
});

test('returns only the selected events', async () => {
	const { look } = follower({ events: ['call_counts_changed'] });
	endpoint().reply(200, answer());
	await look();
	endpoint().reply(200, answer('Paused', 7));
	expect(await look()).toMatchObject([{ event: 'call_counts_changed' }]);
});

describe('the baseline', () => {
	test('is available after a restart', async () => {
		const before = follower();
		endpoint().reply(200, answer());
		await before.look();
		const after = follower();
		const stored: object = JSON.parse(JSON.stringify(before.workflow.staticData));
		Object.assign(after.workflow.staticData, stored);
		endpoint().times(2).reply(200, answer('Paused'));
		expect(await after.look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await after.look()).toBeNull();
	});

	test('is not changed by a test in the editor, which returns the current state', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		endpoint().times(3).reply(200, answer('Paused'));
		expect(await look('manual')).toEqual([{ event: 'current_state', ...answer('Paused').data }]);
		expect(await look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await look()).toBeNull();
	});

	test('starts again with another campaign', async () => {
		const { look, change } = follower();
		endpoint().reply(200, answer());
		await look();
		change({ campaignId: '43' });
		endpoint('43').reply(200, answer('Draft', 0, 43));
		expect(await look()).toBeNull();
	});

	test('stays the same if a poll fails', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		endpoint().times(4).reply(503, '');
		await expect(look()).rejects.toThrow('returned HTTP status 503');
		endpoint().reply(200, answer('Paused'));
		expect(await look()).toMatchObject([{ event: 'status_changed' }]);
	});
});

describe('overlapping polls', () => {
	const QUEUES = 3;
	/** Calls are counted up, and one queue after another is completed. */
	const stateAt = (time: number) => ({
		campaign: { id: 42, status: 'Active' },
		calls: { total: time, by_status: { picked: time } },
		uploads: Array.from({ length: QUEUES }, (_, id) => ({
			campaign_upload_id: id,
			queues: [{ agent_uuid: 'agent_a', total_queued: 5, completed: time >= (id + 1) * 100 }],
		})),
	});

	/** When a poll begins, and how long its request and then its response take. */
	const looks = fc.array(
		fc.record({ begins: fc.nat(500), request: fc.nat(120), response: fc.nat(120) }),
		{ minLength: 1, maxLength: 12 },
	);

	test('report each queue once, count only up, and leave nothing out', async () => {
		const property = fc.asyncProperty(looks, async (timeline) => {
			const time = virtualClock();
			const { look } = follower();
			const events: JsonObject[] = [];
			const poll = async (request: number, response: number) => {
				const found = await look('trigger', async () => {
					await time.sleep(request);
					const data = stateAt(time.elapsed());
					await time.sleep(response);
					return { statusCode: 200, headers: {}, body: { success: true, data } };
				});
				events.push(...(found ?? []).filter(isJsonObject));
			};
			await poll(0, 0);
			await Promise.all(
				timeline.map(async ({ begins, request, response }) => {
					await time.sleep(begins);
					await poll(request, response);
				}),
			);
			await time.sleep(1_000);
			await poll(0, 0);
			const queues = events.filter(({ event }) => event === 'queue_completed');
			expect(queues.map(({ campaign_upload_id: id }) => id).toSorted()).toEqual([0, 1, 2]);
			let total = 0;
			for (const { event, total: change } of events) {
				if (event !== 'call_counts_changed') continue;
				expect(change).toMatchObject({ from: total });
				total = isJsonObject(change) ? Number(change.to) : NaN;
			}
			expect(total).toBeGreaterThanOrEqual(1_000);
		});
		await fc.assert(property);
	});
});

test.each<[INodeParameters, Partial<INode>, string]>([
	[{ campaignId: 'spring' }, {}, `'Campaign' must be a whole number (got "spring")`],
	// n8n would drop all events but the first.
	[{}, { executeOnce: true }, "'Execute Once' in the settings of this trigger must be off"],
])('with %j and %j, it is not published', async (parameters, over, message) => {
	const form = { ...BASE, ...parameters };
	const node = harness.node('campaignProgressTrigger', { parameters: form, ...over });
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toThrow(message);
});
