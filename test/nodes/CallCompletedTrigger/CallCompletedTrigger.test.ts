import { randomUUID } from 'node:crypto';
import type { ICredentialDataDecryptedObject, INode, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { credentialFor } from '../../contract/credentialFor';
import {
	engineHarness,
	hintsOf,
	output,
	retryFailed,
	skipSleeps,
	webhookTrigger,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { seededCall } from '../../simulator/state/seed';

const harness = engineHarness();
const { calls, agents, campaigns } = fixtures;
const UNKNOWN = '6f1c2a34-0000-4000-8000-999999999999';
let count = 0;

const simulator = useSimulator({ dialect: dialects.plain });
beforeEach(() => void skipSleeps());
afterEach(() => jest.restoreAllMocks());
async function listen(
	parameters: INodeParameters = {},
	settings: Partial<INode> = {},
	fields: ICredentialDataDecryptedObject = {},
) {
	const over = { id: `completed-${++count}`, parameters, ...settings };
	const credential = { ...credentialFor(simulator()), ...fields };
	return webhookTrigger(await harness.nodeWith(credential, 'callCompletedTrigger', over));
}

const rawBody = (text: string) => ({ rawBody: Buffer.from(text), body: undefined });
const reported = (callId: string, fields: object = {}) => ({
	body: { call_id: callId, ...fields },
});

/** Runs during the first wait of the trigger. */
function duringWait(act: () => unknown): void {
	const sleep = jest.spyOn(clock, 'sleep');
	const skip = sleep.getMockImplementation();
	sleep.mockImplementationOnce(async (ms) => {
		await act();
		await skip?.(ms);
	});
}

/** A call that hasn't ended. */
function inProgress(): string {
	const callId = randomUUID();
	const call = { ...seededCall(simulator().state.calls.size, Date.now()), callId, finished: false };
	simulator().state.calls.set(callId, call);
	return callId;
}

const reads = (callId: string) =>
	simulator().requests.filter(({ path }) => path === `/v1/call/${callId}`).length;

describe('a request', () => {
	it('passes on each of its calls once, also with Execute Once, for which n8n drops the others', async () => {
		const { deliver } = await listen({}, { executeOnce: true });
		const ids = [calls.finished, calls.notPicked, calls.finished];
		const { items } = await deliver({ body: { calls: ids.map((call_id) => ({ call_id })) } });
		expect(items.map(({ call_id }) => call_id)).toEqual([calls.finished, calls.notPicked]);
	});

	it('starts an execution that returns the record of the service, also with a byte order mark', async () => {
		const { deliver } = await listen();
		const text = JSON.stringify({ data: [{ call: { call_id: calls.finished } }] });
		const { execution, items } = await deliver(rawBody(`\uFEFF${text}`));
		expect(items).toMatchObject([
			{ call_id: calls.finished, outcome: 'Answered', phone_key: '919876500001' },
		]);
		expect(execution && hintsOf(execution)).toEqual([]);
	});

	it.each([
		['', 'The body has no call_id.'],
		['{"call_id":{"$ne":null}}', 'The body has no call_id.'],
		[
			JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ call_id: `c${id}` }))),
			'The body has more than 10 calls.',
		],
	])('%.30s is rejected', async (text, message) => {
		const { deliver } = await listen();
		const { response, execution } = await deliver(rawBody(text));
		expect(response).toMatchObject({ statusCode: 400, body: { received: false, message } });
		expect(execution).toBeUndefined();
		expect(simulator().requests).toEqual([]);
	});

	it('stores nothing of the report but the fields that are compared', async () => {
		const { deliverAndKill } = await listen();
		const { data } = await deliverAndKill(reported(calls.finished, { summary: 'made up' }));
		expect(JSON.stringify(data.executionData)).not.toContain('made up');
	});
});

describe('the execution', () => {
	it('ends without items for a call that the account does not have', async () => {
		const { deliver } = await listen();
		const { execution, items } = await deliver(reported(UNKNOWN));
		expect([execution?.status, items]).toEqual(['success', []]);
		expect(execution && hintsOf(execution)).toEqual([
			expect.stringContaining(`The account of this credential has no call "${UNKNOWN}"`),
		]);
		expect(reads(UNKNOWN)).toBe(5);
	});

	it('fails after five minutes if the record never shows an end, and a retry passes the call on', async () => {
		const callId = inProgress();
		const { deliver, workflow } = await listen();
		const startedAt = clock.elapsed();
		const { execution } = await deliver(reported(callId));
		expect(clock.elapsed() - startedAt).toBeGreaterThan(240_000);
		expect(clock.elapsed() - startedAt).toBeLessThan(310_000);
		expect(execution?.data.resultData.error).toMatchObject({
			message: `Call ${callId} was reported as completed, but its record doesn't show an end yet`,
			description: expect.stringContaining('retry this execution'),
		});
		await simulator().endCall(callId);
		if (execution === undefined) throw new Error('not started');
		const retry = await retryFailed(execution, workflow);
		expect(output(retry, 'Node')).toHaveLength(1);
	});

	it('passes no unread report on if On Error is set to continue, and the other calls of the request', async () => {
		const forged = { call_id: inProgress(), status: 'picked', summary: 'made up' };
		const { deliver } = await listen({}, { onError: 'continueRegularOutput' });
		const { items } = await deliver({ body: [forged, { call_id: calls.finished }] });
		expect(items).toMatchObject([
			{ call_id: calls.finished, outcome: 'Answered' },
			{
				error: expect.stringMatching(
					`^Call ${forged.call_id} was reported as completed, but .*\\[row 1]$`,
				),
				details: { item: 0 },
			},
		]);
		const wrong = await listen(
			{ filters: { agentUuid: { __rl: true, mode: 'id', value: 'nobody' } } },
			{ onError: 'continueRegularOutput' },
		);
		expect((await wrong.deliver({ body: forged })).items).toMatchObject([
			{ error: expect.stringContaining("'Agent'") },
		]);
	});

	it('returns the errors in the order of the calls, whichever call fails first', async () => {
		const ids = [inProgress(), calls.finished];
		simulator().faults.respond(`/v1/call/${calls.finished}`, 400);
		const { deliver } = await listen({}, { onError: 'continueRegularOutput' });
		const { items } = await deliver({ body: ids.map((call_id) => ({ call_id })) });
		expect(items.map(({ details }) => details)).toMatchObject([{ item: 0 }, { item: 1 }]);
	});

	it.each([
		['another status', { statuses: 'failed' }, 0],
		['its status', { statuses: 'picked, failed' }, 1],
		['another agent', { agentUuid: { __rl: true, mode: 'id', value: agents.us } }, 0],
		['its campaign', { campaignIds: `7, ${campaigns.active}` }, 1],
		['its campaign, but another status', { campaignIds: `${campaigns.active}`, statuses: 'x' }, 0],
	])('drops what the filters exclude: %s', async (_name, filters, passed) => {
		const { deliver } = await listen({ filters });
		const { items } = await deliver(reported(calls.finished, { status: 'failed', campaign_id: 1 }));
		expect(items).toHaveLength(passed);
	});

	it.each([
		['true', { opt_out: 'Yes' }, true],
		['false', { opt_out: 'no' }, false],
		['null', { opt_out: 'no more calls' }, null],
		['null', null, null],
	])(
		'Opted Out: %s passes on only a call that captured such as %j',
		async (wanted, data, value) => {
			const passed: unknown[] = [];
			for (const optedOut of ['true', 'false', 'null']) {
				const { deliver } = await listen({ filters: { optedOut } });
				const callId = inProgress();
				await simulator().endCall(callId, { data_captured: data });
				const { items } = await deliver(reported(callId, { data_captured: { opt_out: 'forged' } }));
				passed.push(...items.map(({ opted_out: out }) => [optedOut, out]));
			}
			expect(passed).toEqual([[wanted, value]]);
		},
	);

	it.each([
		[{ agentUuid: { __rl: true, mode: 'id', value: 'nobody' } }, "'Agent'"],
		[
			{ campaignIds: "={{ $('Other').item.json.id }}" },
			"'Campaign IDs' in 'Filters' must be text or a number (got nothing)",
		],
	])(
		'is not published with the filters %j, which no call has, or which need an item',
		async (filters, message) => {
			await expect((await listen({ filters })).publish()).rejects.toThrow(message);
		},
	);
});

describe('each outcome starts the workflow once', () => {
	const report = reported(calls.finished);

	it('if it is reported several times, also at the same moment', async () => {
		const { deliver } = await listen();
		const all = await Promise.all(Array.from({ length: 5 }, async () => await deliver(report)));
		expect(all.flatMap(({ items }) => items)).toHaveLength(1);
		expect((await deliver(report)).items).toEqual([]);
	});

	it('and a redial with the same call_id is another outcome, also if the record is late', async () => {
		const { deliver } = await listen();
		await simulator().endCall(calls.finished, { status: 'not_picked', retry_count: 0 });
		expect((await deliver(report)).items).toMatchObject([{ outcome: 'Not answered' }]);
		duringWait(async () => {
			await simulator().endCall(calls.finished, { status: 'picked', retry_count: 1 });
		});
		const redial = reported(calls.finished, { retry_count: 1 });
		expect((await deliver(redial)).items).toMatchObject([{ outcome: 'Answered', retry_count: 1 }]);
		expect((await deliver(redial)).items).toEqual([]);
	});

	it('and the summary of a late record is passed on, if the report has one', async () => {
		const { deliver } = await listen();
		await simulator().endCall(calls.finished, { summary: null });
		duringWait(async () => {
			await simulator().endCall(calls.finished, { summary: 'Wants a visit' });
		});
		const { items } = await deliver(reported(calls.finished, { summary: 'Wants a visit' }));
		expect(items).toMatchObject([{ summary: 'Wants a visit' }]);
	});

	it('and a forged later outcome passes on the one that the record shows', async () => {
		const { deliver } = await listen();
		const forged = reported(calls.finished, { retry_count: 99, status: 'made up' });
		expect((await deliver(forged)).items).toMatchObject([{ outcome: 'Answered' }]);
		expect((await deliver(forged)).items).toEqual([]);
		expect((await deliver(report)).items).toEqual([]);
	});

	it('and the retry of an execution that n8n was killed in passes it on, but no later delivery', async () => {
		const { deliver, deliverAndKill, workflow } = await listen();
		const killed = await deliverAndKill(report);
		expect((await deliver(report)).items).toEqual([]);
		const retry = await retryFailed(killed, workflow);
		expect(output(retry, 'Node')).toHaveLength(1);
	});

	it('and a test in the editor neither needs nor uses it up', async () => {
		const { deliver } = await listen();
		for (const mode of ['manual', 'manual', 'webhook', 'manual'] as const) {
			expect((await deliver(report, mode)).items).toHaveLength(1);
		}
	});
});
