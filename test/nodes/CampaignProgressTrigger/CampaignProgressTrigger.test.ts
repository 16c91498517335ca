import { randomUUID } from 'node:crypto';
import nock from 'nock';
import type { INode, INodeParameters, IPollFunctions, WorkflowExecuteMode } from 'n8n-workflow';
import { deferred } from '../../../nodes/shared/clock';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	activate,
	engineHarness,
	holdTimeouts,
	makeWorkflow,
	mockTime,
	nodeTypes,
	pollContext,
	service,
} from '../../engine';

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
	return {
		workflow,
		look: async (mode: WorkflowExecuteMode = 'trigger', request?: Request, budgetMs?: number) => {
			const context = pollContext(workflow, node, mode, budgetMs);
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

test('sends additional query parameters', async () => {
	const developerSettings = { additionalQueryParameters: '{ "x": "y" }' };
	const { look } = follower({ developerSettings });
	endpoint().query({ x: 'y' }).times(2).reply(200, answer());
	expect(await look()).toBeNull();
	expect(await look()).toBeNull();
});

test('returns only the selected events', async () => {
	const { look } = follower({ events: ['call_counts_changed'] });
	endpoint().reply(200, answer());
	await look();
	endpoint().reply(200, answer('Paused', 7));
	expect(await look()).toMatchObject([{ event: 'call_counts_changed' }]);
});

test('a check that takes longer than n8n waits says so, and the next one returns the change', async () => {
	let time = Date.now();
	mockTime(() => time);
	const timeIsUp = holdTimeouts();
	const { look } = follower();
	endpoint().reply(200, answer());
	await look('trigger', undefined, 36_000);
	const response = deferred<string>();
	const asked = deferred<undefined>();
	endpoint().reply(200, async () => {
		asked.resolve(undefined);
		return await response.promise;
	});
	const slow = look('trigger', undefined, 36_000);
	await asked.promise;
	time += 36_000;
	timeIsUp(36_000);
	await expect(slow).rejects.toMatchObject({
		message: "The check wasn't complete after 36 seconds",
		description: expect.stringContaining('N8N_SCHEDULER_POLL_TIMEOUT'),
		failure: { cause: 'temporarily-unavailable' },
	});
	response.resolve(JSON.stringify(answer('Paused')));
	endpoint().reply(200, answer('Paused'));
	expect(await look('trigger', undefined, 36_000)).toMatchObject([{ event: 'status_changed' }]);
	jest.restoreAllMocks();
});

test.each<[string, number, object, object]>([
	['the credential', 401, {}, { cause: 'credential-invalid' }],
	[
		'the service, for as long as it asks',
		429,
		{ 'Retry-After': '120' },
		{ cause: 'rate-limited', retryAfterMs: 120_000 },
	],
	['the campaign', 404, {}, { cause: 'configuration-invalid' }],
	['the service', 503, {}, { cause: 'temporarily-unavailable' }],
])('tells n8n that the next check must wait for %s', async (_what, status, headers, failure) => {
	const body = { success: false, error: status === 404 ? "Couldn't find Campaign" : 'No' };
	endpoint()
		.times(4)
		.optionally()
		.reply(status, body, { ...headers });
	await expect(follower().look()).rejects.toMatchObject({ failure });
	nock.cleanAll();
});

describe('the baseline', () => {
	test('is that of the publication, although n8n keeps nothing that the node wrote then', async () => {
		const id = randomUUID();
		const [before, after] = [follower({}, id), follower({}, id)];
		endpoint().reply(200, answer());
		await before.look();
		const { global } = before.workflow.staticData;
		const stored: object = JSON.parse(JSON.stringify({ global }));
		Object.assign(after.workflow.staticData, stored);
		endpoint().times(2).reply(200, answer('Paused'));
		expect(await after.look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await after.look()).toBeNull();
		expect(Object.keys(after.workflow.staticData.global ?? {})).toEqual([]);
	});

	test('of another campaign is that of the publication, although n8n keeps nothing that the node wrote then', async () => {
		const id = randomUUID();
		const [former, changed] = [follower({}, id), follower({ campaignId: '43' }, id)];
		endpoint().times(2).reply(200, answer());
		await former.look();
		await former.look();
		const stored: object = JSON.parse(JSON.stringify(former.workflow.staticData));
		Object.assign(changed.workflow.staticData, structuredClone(stored));
		endpoint('43').reply(200, answer('Draft', 0, 43));
		expect(await changed.look()).toBeNull();
		const first = follower({ campaignId: '43' }, id);
		const { global } = changed.workflow.staticData;
		const kept: object = JSON.parse(JSON.stringify({ global }));
		Object.assign(first.workflow.staticData, stored, kept);
		endpoint('43').reply(200, answer('Active', 0, 43));
		expect(await first.look()).toMatchObject([{ event: 'status_changed', from: 'Draft' }]);
	});

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

describe('if n8n runs two checks at the same time, each change is reported once:', () => {
	afterEach(() => jest.restoreAllMocks());

	test('while one is slow, the other one does nothing', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		const isAnswered = deferred<object>();
		const slow = look('trigger', async () => await isAnswered.promise);
		expect(await look()).toBeNull();
		isAnswered.resolve({ statusCode: 200, headers: {}, body: answer('Paused') });
		expect(await slow).toMatchObject([{ event: 'status_changed', to: 'Paused' }]);
		endpoint().reply(200, answer('Paused', 7));
		expect(await look()).toMatchObject([{ event: 'call_counts_changed' }]);
	});

	test('one that began before n8n stored what the other one found does nothing for a minute', async () => {
		const id = randomUUID();
		let time = Date.now();
		mockTime(() => time);
		const checks = [follower({}, id), follower({}, id), follower({}, id)];
		endpoint().reply(200, answer());
		await checks[0]?.look();
		const stored: object = JSON.parse(JSON.stringify(checks[0]?.workflow.staticData));
		for (const { workflow } of checks) Object.assign(workflow.staticData, structuredClone(stored));
		endpoint().reply(200, answer('Paused'));
		expect(await checks[0]?.look()).toMatchObject([{ event: 'status_changed' }]);
		expect(await checks[1]?.look()).toBeNull();
		// It couldn't store it.
		time += 60_000;
		endpoint().reply(200, answer('Paused'));
		expect(await checks[2]?.look()).toMatchObject([{ event: 'status_changed' }]);
	});

	test('a state that returns is no earlier check', async () => {
		const { look } = follower();
		for (const status of ['Active', 'Paused', 'Active', 'Paused']) {
			endpoint().reply(200, answer(status));
			const found = await look();
			if (status === 'Paused') expect(found).toMatchObject([{ to: 'Paused' }]);
		}
	});

	test('one that failed holds up no other', async () => {
		const { look } = follower();
		endpoint().reply(200, answer());
		await look();
		endpoint().reply(401, {});
		await expect(look()).rejects.toThrow();
		endpoint().reply(200, answer('Paused'));
		expect(await look()).toMatchObject([{ event: 'status_changed' }]);
	});
});

test.each<[INodeParameters, Partial<INode>, string]>([
	[{ campaignId: 'spring' }, {}, `'Campaign' must be a whole number (got "spring")`],
	// n8n would drop all events but the first.
	[{}, { executeOnce: true }, "'Execute Once' in the settings of this trigger must be off"],
])('with %j and %j, it is not published', async (parameters, over, message) => {
	const form = { ...BASE, ...parameters };
	const node = harness.node('campaignProgressTrigger', { parameters: form, ...over });
	await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
});
