import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'events';
import pickBy from 'lodash/pickBy';
import {
	NodeOperationError,
	type IDataObject,
	type INode,
	type INodeParameters,
	type NodeParameterValueType,
} from 'n8n-workflow';
import { BoundedMap } from '../../../nodes/shared/boundedMap';
import { deferred } from '../../../nodes/shared/clock';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { notePlaced } from '../../../nodes/shared/calls/placedCalls';
import { WebhookResponder } from '../../../nodes/shared/n8n/triggers/webhookResponse';
import {
	activate,
	callWebhook,
	ENDED,
	engineHarness,
	makeWorkflow,
	mockTime,
	nodeTypes,
	webhookContext,
	type ActiveWorkflow,
	type WebhookRequest,
} from '../../engine';
import { eventually, until, untilIdle } from '../../n8n/until';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';

const harness = engineHarness();
const { calls } = fixtures;
let count = 0;
/** As in a process of n8n that has just started. */
const startedAt = Date.now();
/** Fields of a record. */
type Outcome = Record<string, string | number | null>;
const PICKED_ONLY: INodeParameters = { filters: { statuses: 'picked' } };

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	let simulator: Simulator;
	let active: ActiveWorkflow | undefined;
	/** The waits between reads. */
	let waits: number[];
	let time: number;
	/** How late a response may be. */
	let responseLimit: jest.SpiedFunction<WebhookResponder['rejectAfter']>;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		waits = [];
		time = Date.now();
		mockTime(() => time);
		responseLimit = jest.spyOn(WebhookResponder.prototype, 'rejectAfter').mockImplementation();
		// Every wait ends immediately, and is counted.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			const reads = simulator.requests.length;
			waits[reads - 1] = (waits[reads - 1] ?? 0) + ms;
			time += ms;
			await new Promise((resolve) => setImmediate(resolve));
		});
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		await active?.stop();
		jest.restoreAllMocks();
		active = undefined;
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	/** The owner is notified some seconds later, of all failures until then. */
	async function ownerNotified({ failed }: ActiveWorkflow): Promise<void> {
		await until('the notification of the owner', async () => Promise.resolve(failed.length > 0));
	}

	async function trigger(parameters: INodeParameters = {}): Promise<INode> {
		const { baseUrl, token: apiToken } = simulator;
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		return harness.node('callCompletedTrigger', {
			id: `trigger-${++count}`,
			parameters,
			credentials,
			webhookId: 'hook',
		});
	}

	async function deliver(node: INode, request: WebhookRequest, mode?: 'manual') {
		const workflow = makeWorkflow([node]);
		const { credentials } = harness;
		const { response, result, answered } = await callWebhook(
			credentials,
			workflow,
			node,
			request,
			mode,
		);
		// n8n sends the response if the node doesn't.
		if (result?.webhookResponse === undefined) await answered;
		// Then n8n gets the return value.
		await new Promise((resolve) => setImmediate(resolve));
		return { response, result, workflow };
	}

	/** Delivers to an active workflow and returns what it emitted. */
	async function listen(parameters: INodeParameters = {}) {
		const node = await trigger(parameters);
		const running = await activate(harness.credentials, makeWorkflow([node]));
		active = running;
		return {
			running,
			post: async (request: WebhookRequest) => await deliver(node, request),
			emitted: () => running.emitted.map(({ items }) => items[0]?.map(({ json }) => json)),
		};
	}

	/** Waits end immediately until this many requests. The next one ends with `resume`. */
	function pausedAfter(requests: number) {
		const paused = deferred<undefined>();
		const reached = deferred<undefined>();
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			time += ms;
			await new Promise((resolve) => setImmediate(resolve));
			if (simulator.requests.length < requests) return;
			reached.resolve(undefined);
			await paused.promise;
		});
		return { isReached: reached.promise, resume: () => paused.resolve(undefined) };
	}

	/** Waits end only when n8n stops waiting for a closing trigger. */
	function closingTimeout() {
		const waiting: Array<() => void> = [];
		jest
			.spyOn(clock, 'sleep')
			.mockImplementation(async () => await new Promise<void>((resume) => waiting.push(resume)));
		return {
			endsAfter: async (close: () => Promise<unknown>) => {
				const closing = close();
				jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
				waiting.forEach((resume) => resume());
				await closing;
			},
		};
	}

	const payload = (callId: string, claims: IDataObject = {}): WebhookRequest => ({
		body: dialect.webhook.body(callId, { call_id: callId, status: 'picked', ...claims }),
	});

	it('passes on the record of the service, not the reported values', async () => {
		const { post, emitted } = await listen();
		const { response } = await post(payload(calls.notPicked, { summary: 'made up' }));
		expect(response).toMatchObject({ statusCode: 200, body: { received: true } });
		expect(emitted()).toEqual([[expect.objectContaining({ status: 'not_picked' })]]);
		expect(emitted()[0]?.[0]?.summary ?? null).toBeNull();
	});

	it('gives n8n a key of the call, the workflow and the node', async () => {
		const { post, running } = await listen();
		await post(payload(calls.finished));
		await post(payload(calls.unusual));
		const keys = running.emitted.map(({ deduplicationKey }) => deduplicationKey);
		expect(new Set(keys).size).toBe(2);
		for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
	});

	it('a repeat starts nothing, also if the record has more fields by then', async () => {
		const { post, emitted } = await listen();
		const call = simulator.state.calls.get(calls.finished);
		if (call === undefined) throw new Error('No such call');
		const { outcome } = call;
		call.outcome = { ...outcome, post_call_analysis: null, call_ended_reason_message: null };
		await post(payload(calls.finished));
		call.outcome = outcome;
		const { response } = await post(payload(calls.finished));
		expect(response).toMatchObject({
			statusCode: 200,
			body: { received: true, message: 'This call was received before.' },
		});
		expect(emitted()).toHaveLength(1);
	});

	it('without verification, an outcome reported with and without the time of its pick-up starts the workflow once', async () => {
		const { post, emitted } = await listen({ verify: false });
		const at = { call_picked_at: '2026-11-20T10:00:00+05:30' };
		const callId = randomUUID();
		for (const claims of [{}, at, {}]) await post(payload(callId, claims));
		expect(emitted()).toHaveLength(1);
		await post(payload(callId, { ...at, retry_count: 1 }));
		expect(emitted()).toHaveLength(2);
	});

	it('a later outcome of the same call, such as after a redial, starts the workflow again', async () => {
		const { post, emitted } = await listen();
		await post(payload(calls.notPicked));
		await simulator.endCall(calls.notPicked, { retry_count: 1, status: 'picked' });
		await post(payload(calls.notPicked));
		await post(payload(calls.notPicked));
		expect(emitted()).toMatchObject([[{ status: 'not_picked' }], [{ status: 'picked' }]]);
	});

	describe('a later outcome of the same call whose record is updated late', () => {
		const redial = { retry_count: 2, status: 'picked' };
		const readsOf = (callId: string) =>
			simulator.requests.filter(({ path }) => path === `/v1/call/${callId}`).length;

		const otherOutcome = (callId: string) =>
			`Call ${callId} was reported with another outcome than its record shows, so the workflow wasn't started for the reported one`;
		const missed = { retry_count: 0, status: 'not_picked', call_picked_at: null };
		const first = {
			retry_count: 7,
			status: 'picked',
			call_picked_at: '2026-11-20T10:00:00+05:30',
		};
		const callback = { ...first, call_picked_at: '2026-11-20T10:20:00+05:30' };
		/** Some dialects leave out fields without a value. */
		const shown = (outcome: Outcome) => [pickBy(outcome, (value) => value !== null)];
		/** The record shows this outcome after two more reads. */
		const updateLate = (outcome: Outcome) => {
			const before = readsOf(calls.notPicked);
			jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
				time += ms;
				await new Promise((resolve) => setImmediate(resolve));
				if (readsOf(calls.notPicked) === before + 2)
					await simulator.endCall(calls.notPicked, outcome);
			});
		};

		it('starts the workflow again, with the record', async () => {
			const { post, emitted } = await listen();
			await post(payload(calls.notPicked, { status: 'not_picked' }));
			jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
				time += ms;
				if (readsOf(calls.notPicked) === 4) await simulator.endCall(calls.notPicked, redial);
			});
			const report = payload(calls.notPicked, { ...redial, summary: 'made up' });
			expect((await post(report)).response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[{ status: 'not_picked' }], [redial]]);
			expect(emitted()[1]?.[0]?.summary).not.toBe('made up');
			const repeats = [report, payload(calls.notPicked, { status: 'not_picked', retry_count: 1 })];
			for (const repeat of repeats) {
				const { response } = await post(repeat);
				expect(response.body).toMatchObject({ message: 'This call was received before.' });
			}
			expect(emitted()).toHaveLength(2);
		});

		it('and that stays the same, such as for a forged report, asks the sender to try again and notifies the owner', async () => {
			const { post, emitted, running } = await listen();
			await post(payload(calls.notPicked, { status: 'not_picked' }));
			const before = readsOf(calls.notPicked);
			const { response } = await post(payload(calls.notPicked, redial));
			expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
			expect(readsOf(calls.notPicked) - before).toBeLessThan(20);
			await ownerNotified(running);
			expect(running.failed.map(({ message }) => message)).toEqual([otherOutcome(calls.notPicked)]);
			expect(emitted()).toHaveLength(1);
		});

		it('is read no more often if many forged reports have different outcomes, and a true report does not wait for them', async () => {
			const { post, emitted, running } = await listen();
			await post(payload(calls.notPicked, { status: 'not_picked' }));
			const { resume, isReached } = pausedAfter(6);
			const forged = Array.from(
				{ length: 10 },
				async (_, index) =>
					await post(payload(calls.notPicked, { retry_count: 2 + index, status: 'picked' })),
			);
			await isReached;
			expect(readsOf(calls.notPicked)).toBe(6);
			await simulator.endCall(calls.notPicked, redial);
			expect((await post(payload(calls.notPicked, redial))).response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[{ status: 'not_picked' }], [redial]]);
			resume();
			await Promise.all(forged);
			expect(emitted()).toHaveLength(2);
			await ownerNotified(running);
		});

		it.each<[string, INodeParameters, Outcome, Outcome]>([
			['of a callback that only has a later time', {}, first, callback],
			['if the filters excluded the one before', PICKED_ONLY, missed, redial],
			[
				'without a retry, if the filters excluded the one before',
				PICKED_ONLY,
				missed,
				{ ...callback, retry_count: 0 },
			],
			['with Allow Duplicates', { settings: { allowDuplicates: true } }, missed, redial],
		])('%s starts the workflow when the record shows it', async (_case, parameters, one, other) => {
			const { post, emitted, running } = await listen(parameters);
			await simulator.endCall(calls.notPicked, one);
			expect((await post(payload(calls.notPicked, one))).response.statusCode).toBe(200);
			const before = parameters.filters === undefined ? [shown(one)] : [];
			expect(emitted()).toMatchObject(before);
			updateLate(other);
			const { response } = await post(payload(calls.notPicked, other));
			expect(response).toMatchObject({ statusCode: 200, body: { received: true } });
			expect(response.body).not.toHaveProperty('message');
			expect(emitted()).toMatchObject([...before, shown(other)]);
			expect(running.failed).toEqual([]);
		});

		it('starts the workflow if the report of the one before never arrived', async () => {
			const { post, emitted } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			updateLate(redial);
			const { response } = await post(payload(calls.notPicked, redial));
			expect(response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[redial]]);
		});

		it.each([true, false])(
			'starts the workflow, and so does an attempt before it that the record shows in between (the first one was reported: %s)',
			async (isReported) => {
				const { post, emitted, running } = await listen();
				const attempts = [missed, { ...missed, retry_count: 1 }, redial];
				await simulator.endCall(calls.notPicked, missed);
				if (isReported) await post(payload(calls.notPicked, missed));
				const before = readsOf(calls.notPicked);
				jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
					time += ms;
					await new Promise((resolve) => setImmediate(resolve));
					const shownNow = attempts[Math.floor((readsOf(calls.notPicked) - before) / 3)];
					if (shownNow !== undefined) await simulator.endCall(calls.notPicked, shownNow);
				});
				const { response } = await post(payload(calls.notPicked, redial));
				expect(response.statusCode).toBe(200);
				expect(emitted()).toMatchObject(attempts.slice(isReported ? 0 : 1).map(shown));
				expect(running.failed).toEqual([]);
			},
		);

		it('starts the workflow, also if it is in one report with the one before', async () => {
			const { post, emitted } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			updateLate(redial);
			const body = [missed, redial].map((outcome) => ({ call_id: calls.notPicked, ...outcome }));
			const { response } = await post({ body });
			expect(response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([shown(missed), shown(redial)]);
		});

		it('starts the workflow after a restart of n8n', async () => {
			const { post, emitted, running } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			await post(payload(calls.notPicked, missed));
			for (const end of running.ends) end.resolve(ENDED);
			await untilIdle();
			// A new process has no memory.
			jest.spyOn(BoundedMap.prototype, 'has').mockReturnValue(false);
			updateLate(redial);
			await post(payload(calls.notPicked, redial));
			expect(emitted()).toMatchObject([shown(missed), shown(redial)]);
		});

		it('does not keep the one before from starting the workflow if that was not reported, and the sender is asked to try again', async () => {
			const { post, emitted, running } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			const report = payload(calls.notPicked, redial);
			expect((await post(report)).response.statusCode).toBe(503);
			await ownerNotified(running);
			expect(running.failed.map(({ message }) => message)).toEqual([otherOutcome(calls.notPicked)]);
			expect(emitted()).toMatchObject([shown(missed)]);
			const repeat = await post(payload(calls.notPicked, missed));
			expect(repeat.response.body).toMatchObject({ message: 'This call was received before.' });
			expect(emitted()).toHaveLength(1);
		});

		it('that is forged 150 times starts nothing and does not delay the true reports', async () => {
			const { post, emitted, running } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			const { resume, isReached } = pausedAfter(3);
			const claims = { retry_count: 1_000_000, status: 'picked' };
			const forged = Array.from({ length: 150 }, async () =>
				post(payload(calls.notPicked, claims)),
			);
			await isReached;
			for (const outcome of [missed, redial]) {
				await simulator.endCall(calls.notPicked, outcome);
				const { response } = await post(payload(calls.notPicked, outcome));
				expect(response.statusCode).toBe(200);
				// The same call isn't read again immediately.
				time += 2_000;
			}
			expect(emitted()).toMatchObject([shown(missed), shown(redial)]);
			resume();
			await Promise.all(forged);
			expect(emitted()).toHaveLength(2);
			expect(running.failed.length).toBeLessThan(2);
		});

		it('starts the workflow also if forged reports leave no room for the true one', async () => {
			const { post, emitted } = await listen();
			await simulator.endCall(calls.notPicked, missed);
			await post(payload(calls.notPicked, missed));
			const { resume, isReached } = pausedAfter(4);
			const claims = { retry_count: 1_000_000, status: 'picked' };
			const forged = Array.from({ length: 101 }, async () =>
				post(payload(calls.notPicked, claims)),
			);
			await isReached;
			expect((await post(payload(calls.notPicked, redial))).response.statusCode).toBe(503);
			await simulator.endCall(calls.notPicked, redial);
			resume();
			await Promise.all(forged);
			expect(emitted()).toMatchObject([shown(missed), shown(redial)]);
		});

		it.each<[string, INodeParameters, Outcome[], Outcome]>([
			['that the filters excluded', PICKED_ONLY, [missed, { ...callback, retry_count: 0 }], missed],
			[
				'with an earlier pick-up, whose own report arrives only now',
				{},
				[callback],
				{ ...first, status: 'failed' },
			],
		])('does not mean an earlier outcome %s', async (_case, parameters, reported, earlier) => {
			const { post, emitted, running } = await listen(parameters);
			for (const outcome of reported) {
				await simulator.endCall(calls.notPicked, outcome);
				await post(payload(calls.notPicked, outcome));
			}
			const before = readsOf(calls.notPicked);
			const { response } = await post(payload(calls.notPicked, earlier));
			expect(response).toMatchObject({
				statusCode: 200,
				body: { message: 'This call was received before.' },
			});
			expect(readsOf(calls.notPicked) - before).toBe(1);
			expect(emitted()).toHaveLength(1);
			expect(running.failed).toEqual([]);
		});
	});

	describe('the time of a pick-up that the trigger has not verified', () => {
		const PICKED_AT = '2026-11-20T10:00:00+05:30';
		const CALLED_BACK_AT = '2026-11-20T10:20:00+05:30';

		/** A published workflow with a trigger that verifies calls, and one that doesn't. */
		async function listenWithBoth() {
			const unverified = { ...(await trigger({ verify: false })), name: 'Unverified' };
			const node = await trigger();
			const running = await activate(harness.credentials, makeWorkflow([unverified, node]));
			active = running;
			const pickedAt = (time: string) => ({
				status: 'picked',
				retry_count: count,
				call_picked_at: time,
			});
			return {
				forge: async (time: string) => {
					await deliver(unverified, payload(calls.notPicked, pickedAt(time)));
					running.emitted.splice(0);
				},
				/** The call is picked up and ends, and the service reports it. */
				end: async (time: string, mode?: 'manual') => {
					await simulator.endCall(calls.notPicked, pickedAt(time));
					await deliver(node, payload(calls.notPicked, pickedAt(time)), mode);
				},
				restart: async () => {
					for (const end of running.ends) end.resolve(ENDED);
					await untilIdle();
					// A new process has no memory.
					jest.spyOn(BoundedMap.prototype, 'has').mockReturnValue(false);
					jest.spyOn(BoundedMap.prototype, 'get').mockReturnValue(undefined);
				},
				keys: () => running.emitted.map(({ deduplicationKey }) => deduplicationKey),
			};
		}

		it("doesn't keep a callback from starting another trigger", async () => {
			const { forge, end, keys } = await listenWithBoth();
			await forge('2099-01-01T00:00:00Z');
			await end(PICKED_AT);
			await end(CALLED_BACK_AT);
			expect(new Set(keys()).size).toBe(2);
		});

		it("doesn't start another trigger again after a restart of n8n", async () => {
			const { forge, end, restart, keys } = await listenWithBoth();
			await forge('2001-01-01T00:00:00Z');
			await end(PICKED_AT);
			await restart();
			await end(PICKED_AT);
			expect(keys()).toHaveLength(2);
			expect(new Set(keys()).size).toBe(1);
		});

		it("doesn't start the trigger again after a restart of n8n if a test in the editor saw it", async () => {
			const { end, restart, keys } = await listenWithBoth();
			await end(PICKED_AT, 'manual');
			await end(CALLED_BACK_AT);
			await restart();
			await end(CALLED_BACK_AT);
			expect(keys()).toHaveLength(2);
			expect(new Set(keys()).size).toBe(1);
		});
	});

	it('a later outcome that is reported while the transcript of the one before is read starts the workflow too', async () => {
		const path = `/v1/call/${calls.notPicked}/transcript`;
		simulator.faults.inject({ kind: 'status', status: 503, times: 1, match: { path } });
		const { post, emitted } = await listen({ include: ['transcript'] });
		let second: Promise<unknown> | undefined;
		jest.spyOn(clock, 'sleep').mockImplementation(async () => {
			if (second !== undefined || !simulator.requests.some((seen) => seen.path === path)) return;
			second = simulator
				.endCall(calls.notPicked, { retry_count: 1, status: 'picked' })
				.then(async () => await post(payload(calls.notPicked)));
			await new Promise((resolve) => setImmediate(resolve));
		});
		await post(payload(calls.notPicked));
		expect(second).toBeDefined();
		await second;
		const statuses = emitted().map((items) => items?.[0]?.status);
		expect(statuses.sort()).toEqual(['not_picked', 'picked']);
	});

	it('one of ten simultaneous deliveries starts the workflow', async () => {
		const { post, emitted } = await listen();
		const deliveries = Array.from({ length: 10 }, async () => await post(payload(calls.finished)));
		const statuses = (await Promise.all(deliveries)).map(({ response }) => response.statusCode);
		expect(new Set(statuses)).toEqual(new Set([200]));
		expect(emitted()).toHaveLength(1);
	});

	it('a repeat starts the workflow again if duplicates are allowed', async () => {
		const { post, running } = await listen({ settings: { allowDuplicates: true } });
		await post(payload(calls.finished));
		await post(payload(calls.finished));
		const keys = running.emitted.map(({ deduplicationKey }) => deduplicationKey);
		expect(new Set(keys).size).toBe(2);
	});

	it('rejects an unknown call', async () => {
		const { post, emitted } = await listen();
		const { response } = await post(payload('00000000-0000-4000-8000-000000000000'));
		expect(response).toMatchObject({
			statusCode: 404,
			body: { received: false, message: 'The service has no call with this ID.' },
		});
		expect(emitted()).toEqual([]);
	});

	describe('a call that this n8n has placed and that the service does not find', () => {
		/** The service shows the call after this many reads. */
		const showAfter = (callId: string, reads: number, onWait = () => {}) => {
			const ended = simulator.state.calls.get(calls.finished);
			if (ended === undefined) throw new Error('No such call');
			jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
				time += ms;
				onWait();
				if (simulator.requests.length < reads) return;
				simulator.state.calls.set(callId, { ...ended, callId });
				await new Promise((resolve) => setImmediate(resolve));
			});
		};

		const placed = (shownAfter: number) => {
			const callId = randomUUID();
			notePlaced(callId);
			showAfter(callId, shownAfter);
			return callId;
		};

		it('starts the workflow when the service finds it', async () => {
			const { post, emitted } = await listen();
			const callId = placed(4);
			expect((await post(payload(callId))).response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[{ call_id: callId }]]);
		});

		it('starts the workflow, also if it was reported and looked for before n8n had its ID', async () => {
			const { post, emitted } = await listen();
			const callId = randomUUID();
			expect((await post(payload(callId))).response.statusCode).toBe(404);
			notePlaced(callId);
			showAfter(callId, 4);
			expect((await post(payload(callId))).response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[{ call_id: callId }]]);
		});

		it('starts the workflow, also if n8n gets its ID while it looks for it', async () => {
			const { post, emitted } = await listen();
			const callId = randomUUID();
			showAfter(callId, 5, () => notePlaced(callId));
			expect((await post(payload(callId))).response.statusCode).toBe(200);
			expect(emitted()).toMatchObject([[{ call_id: callId }]]);
		});

		it('is reported to the owner after the time limit, and the sender is asked to try again', async () => {
			const { post, running } = await listen();
			const callId = placed(Infinity);
			expect((await post(payload(callId))).response.statusCode).toBe(503);
			await ownerNotified(running);
			expect(running.failed.map(({ message }) => message)).toEqual([
				`Call ${callId} was reported as completed, but couldn't be read, so the workflow wasn't started`,
			]);
		});
	});

	it('reads the credential once per half a minute', async () => {
		const { post, emitted } = await listen();
		const before = harness.credentials.reads;
		await post(payload(calls.finished));
		await post(payload(calls.notPicked));
		expect(harness.credentials.reads).toBe(before + 1);
		time += 30_001;
		await post(payload(calls.unusual));
		expect(harness.credentials.reads).toBe(before + 2);
		expect(emitted()).toHaveLength(3);
	});

	it('reads a credential again for the next delivery if reading failed', async () => {
		const { post, emitted, running } = await listen();
		jest
			.spyOn(harness.credentials, 'getDecrypted')
			.mockRejectedValueOnce(new Error('the vault is shut'));
		expect((await post(payload(calls.finished))).response.statusCode).toBe(503);
		await ownerNotified(running);
		expect(JSON.stringify(running.failed[0])).toContain('the vault is shut');
		expect((await post(payload(calls.finished))).response.statusCode).toBe(200);
		expect(emitted()).toHaveLength(1);
	});

	it('notifies the owner once of an unreadable call that was delivered three times', async () => {
		simulator.faults.inject({ kind: 'status', status: 503 });
		const { post, running } = await listen();
		const three = [1, 2, 3].map(async () => await post(payload(calls.finished)));
		for (const { response } of await Promise.all(three)) expect(response.statusCode).toBe(503);
		await ownerNotified(running);
		expect(running.failed).toHaveLength(1);
	});

	it('forged calls while none can be read cause one failed execution', async () => {
		simulator.faults.inject({ kind: 'status', status: 403 });
		const { post, running } = await listen();
		const seconds = deferred<undefined>();
		jest.spyOn(clock, 'sleep').mockReturnValue(seconds.promise);
		const reports = Array.from({ length: 40 }, async () => await post(payload(randomUUID())));
		for (const { response } of await Promise.all(reports)) expect(response.statusCode).toBe(503);
		seconds.resolve(undefined);
		await ownerNotified(running);
		expect(running.failed).toHaveLength(1);
		expect(running.failed[0]?.message).toBe(
			"40 calls were reported as completed, but couldn't be read, so the workflow wasn't started for them",
		);
	});

	it('a call in progress starts nothing, and its end starts the workflow', async () => {
		const { post, emitted, running } = await listen();
		const claims = { status: 'picked', summary: 'made up' };
		const { response } = await post(payload(calls.inFlight, claims));
		expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
		expect(emitted()).toEqual([]);
		await ownerNotified(running);
		expect(running.failed[0]?.message).toBe(
			`Call ${calls.inFlight} was reported as completed, but its record doesn't show an end yet, so the workflow wasn't started`,
		);
		await simulator.endCall(calls.inFlight);
		await post(payload(calls.inFlight));
		expect(emitted()).toMatchObject([[{ call_ended_reason: 'assistant-ended-call' }]]);
		expect(emitted()[0]?.[0]?.summary).not.toBe('made up');
	});

	it('reading a call many times leaves no listeners', async () => {
		const listened = jest.spyOn(AbortSignal.prototype, 'addEventListener');
		const { post } = await listen();
		await post(payload(calls.inFlight));
		expect(waits.length).toBeGreaterThan(10);
		const counts = listened.mock.contexts.map((signal: unknown) =>
			signal instanceof EventTarget ? getEventListeners(signal, 'abort').length : 0,
		);
		expect(Math.max(...counts)).toBeLessThan(2);
	});

	it('waits for a record that is updated late', async () => {
		jest.spyOn(clock, 'sleep').mockImplementation(async () => {
			if (simulator.requests.length !== 3) return;
			await simulator.endCall(calls.inFlight);
		});
		const { post, emitted } = await listen();
		expect((await post(payload(calls.inFlight))).response.statusCode).toBe(200);
		expect(emitted()).toMatchObject([[{ call_ended_reason: 'assistant-ended-call' }]]);
	});

	it('passes on a call with a status that the user counts as finished', async () => {
		const { post, emitted } = await listen({ settings: { finishedStatuses: 'voicemail' } });
		const ended = {
			status: 'voicemail',
			call_ended_by: null,
			call_ended_reason: null,
			call_ended_reason_message: null,
			summary: null,
			post_call_analysis: null,
		};
		await simulator.endCall(calls.inFlight, ended);
		await post(payload(calls.inFlight));
		expect(emitted()).toMatchObject([[{ status: 'voicemail' }]]);
	});

	it('the webhook does not wait for the verification, because n8n keeps a sandbox for it', async () => {
		const release = simulator.holdResponses();
		const node = await trigger();
		active = await activate(harness.credentials, makeWorkflow([node]));
		const request = payload(calls.finished);
		const { context, response } = webhookContext(
			harness.credentials,
			makeWorkflow([node]),
			node,
			request,
		);
		const answered = response.sent();
		const type = nodeTypes.getByNameAndVersion(node.type);
		expect(await type.webhook?.call(context)).toEqual({ noWebhookResponse: true });
		expect(active.emitted).toEqual([]);
		release();
		await answered;
		expect(active.emitted).toHaveLength(1);
	});

	it('reads at most ten calls at the same time', async () => {
		const { post, emitted } = await listen({ settings: { allowDuplicates: true } });
		const ids = Array.from({ length: 40 }, () =>
			simulator.addAttempt(fixtures.campaigns.active, 'failed'),
		);
		const release = simulator.holdResponses();
		const posting = ids.map(async (callId) => await post(payload(callId)));
		await eventually(() => simulator.stats().maxActive === 10);
		await untilIdle();
		release();
		await Promise.all(posting);
		await until('every execution', async () => emitted().length === 40);
		expect(simulator.stats().maxActive).toBe(10);
	});

	it('verifies a call after an outage of the service', async () => {
		simulator.faults.inject({ kind: 'status', status: 503, times: 9 });
		const { post, emitted } = await listen();
		const { response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(200);
		expect(emitted()).toHaveLength(1);
	});

	it('asks the sender to try again during the outage, and starts the workflow afterwards', async () => {
		responseLimit.mockRestore();
		simulator.faults.inject({ kind: 'status', status: 503 });
		const { post, running } = await listen();
		const started = running.next();
		const begun = time;
		const { response } = await post(payload(calls.finished));
		expect(response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(time - begun).toBeGreaterThanOrEqual(10_000);
		simulator.faults.clear();
		await started;
		expect(running.emitted).toHaveLength(1);
	});

	it('notifies the owner of a call that could not be read', async () => {
		simulator.faults.inject({ kind: 'status', status: 503 });
		const { post, emitted, running } = await listen();
		const { response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(503);
		expect(emitted()).toEqual([]);
		await ownerNotified(running);
		const [error] = running.failed;
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error).toMatchObject({
			message: expect.stringContaining(`Call ${calls.finished} was reported as completed`),
			node: { name: 'Node' },
		});
	});

	it('notifies the owner of calls that were being verified when the trigger was stopped', async () => {
		const { post, running } = await listen();
		const timeout = closingTimeout();
		const posting = post(payload(calls.inFlight));
		await until('the first read', async () => simulator.requests.length > 0);
		await timeout.endsAfter(async () => await running.stop());
		expect((await posting).response.statusCode).toBe(503);
		expect(running.emitted).toEqual([]);
		expect(running.failed.map(({ message }) => message)).toEqual([
			"A completed call was still being verified when the trigger was stopped, so the workflow wasn't started",
		]);
	});

	it.each([
		['finished', 200, 2, /transcript$/],
		['that cannot be read', 403, 1, /^/],
	])(
		'a call named as unverified by the closing starts nothing and is named once: one %s',
		async (_how, status, reads, lastRead) => {
			const { post, running } = await listen({ include: ['transcript'] });
			const timeout = closingTimeout();
			const release = simulator.holdResponses(lastRead);
			if (status !== 200) simulator.faults.inject({ kind: 'status', status, times: 1 });
			const posting = post(payload(calls.finished));
			await until('the last read', async () => simulator.stats().requests === reads);
			await timeout.endsAfter(async () => await running.stop());
			release();
			expect((await posting).response.statusCode).toBe(503);
			expect(running.failed).toHaveLength(1);
			expect(running.emitted).toEqual([]);
		},
	);

	it('a delivery waits until the trigger is active, and n8n gets its key', async () => {
		const timeout = closingTimeout();
		time = startedAt;
		const node = await trigger();
		const delivering = deliver(node, payload(calls.finished));
		await new Promise((resolve) => setImmediate(resolve));
		const running = await activate(harness.credentials, makeWorkflow([node]));
		active = running;
		expect((await delivering).response.statusCode).toBe(200);
		expect(running.emitted).toMatchObject([{ deduplicationKey: expect.any(String) }]);
		await timeout.endsAfter(async () => {});
	});

	it('responds immediately if set', async () => {
		const { post, running } = await listen({ settings: { respond: 'immediately' } });
		const started = running.next();
		expect((await post(payload('00000000-0000-4000-8000-000000000000'))).response.statusCode).toBe(
			202,
		);
		expect((await post(payload(calls.finished))).response.statusCode).toBe(202);
		await started;
		expect(running.emitted).toHaveLength(1);
	});

	it('includes transcript and recording, also if there are none', async () => {
		const { post, emitted } = await listen({ include: ['recording', 'transcript'] });
		await post(payload(calls.finished));
		await post(payload(calls.notPicked));
		const [[full] = [], [none] = []] = emitted();
		expect(full).toMatchObject({
			transcript: [{ role: 'assistant' }, {}, {}],
			recording: { recording_url: expect.any(String), expires_at: expect.any(String) },
		});
		expect(none).toMatchObject({ transcript: [], recording: null });
	});

	it('a call that the filters exclude starts nothing and uses no key', async () => {
		const { post, emitted } = await listen({ filters: { statuses: 'failed, not_picked' } });
		await post(payload(calls.finished));
		await post(payload(calls.notPicked));
		expect(emitted()).toEqual([[expect.objectContaining({ call_id: calls.notPicked })]]);
	});

	it('filters by agent and campaign', async () => {
		const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.us };
		const { post, emitted } = await listen({ filters: { agentUuid } });
		await post(payload(calls.finished));
		await post(payload(calls.unusual));
		expect(emitted()).toEqual([[expect.objectContaining({ call_id: calls.unusual })]]);
	});

	it.each<[NodeParameterValueType, number]>([
		[String(fixtures.campaigns.active), 1],
		[`7, ${fixtures.campaigns.active}`, 1],
		['7', 0],
		[fixtures.campaigns.active, 1],
		[7, 0],
		[[7, fixtures.campaigns.active], 1],
		[[7, 8], 0],
		[null, 1],
	])('of campaign %j the delivery starts %i', async (campaignIds, started) => {
		const { post, emitted } = await listen({ filters: { campaignIds } });
		const callId = simulator.addAttempt(fixtures.campaigns.active, 'failed');
		await post(payload(callId));
		expect(emitted()).toHaveLength(started);
	});

	it('passes on the unchanged payload without verification', async () => {
		const { post, emitted } = await listen({ verify: false });
		const request = payload('not-a-call', { summary: 'as reported' });
		await post(request);
		expect(emitted()).toMatchObject([[request.body]]);
		expect(emitted()[0]?.[0]?.phone_key).toBeNull();
		expect(simulator.requests).toEqual([]);
	});

	it('in a process without the trigger, the webhook starts the execution and n8n responds', async () => {
		const node = await trigger();
		const { result, workflow, response } = await deliver(node, payload(calls.finished));
		expect(response.body).toBeUndefined();
		expect(result).toMatchObject({
			webhookResponse: { received: true, call_id: calls.finished },
			workflowData: [[{ json: { call_id: calls.finished } }]],
		});
		expect(JSON.stringify(workflow.staticData)).toMatch(/[0-9a-f]{64}/);
		// n8n may not have stored the first one, so the executions determine which is the first.
		const repeat = await deliver(node, payload(calls.finished));
		expect(repeat.result?.workflowData).toEqual(result?.workflowData);
	});

	it('runs every delivery while the editor listens', async () => {
		const node = await trigger();
		for (let time = 0; time < 2; time++) {
			const { result } = await deliver(node, payload(calls.finished), 'manual');
			expect(result?.workflowData).toHaveLength(1);
		}
	});

	it("the editor's test shows why a reported call can't be read", async () => {
		const credential = await harness.addCredential({
			baseUrl: simulator.baseUrl,
			apiToken: 'another-token-16',
		});
		const node = { ...(await trigger()), credentials: { [CREDENTIAL]: credential } };
		const error = await deliver(node, payload(calls.finished), 'manual').then(
			() => undefined,
			(thrown: unknown) => thrown,
		);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error).toMatchObject({
			message: `Call ${calls.finished} was reported as completed, but couldn't be read, so the workflow wasn't started`,
			description: expect.stringContaining("'API Token'"),
		});
	});

	it('a deactivated trigger starts nothing and asks the sender to try again', async () => {
		const { post, running } = await listen();
		await running.stop();
		const { result, response } = await post(payload(calls.finished));
		expect(response.statusCode).toBe(503);
		expect(running.emitted).toEqual([]);
		expect(result).toEqual({ noWebhookResponse: true });
	});

	it('in a process whose trigger moved to another one, the webhook soon starts the workflow', async () => {
		const { post, running } = await listen();
		await running.stop();
		expect((await post(payload(calls.finished))).response.statusCode).toBe(503);
		const { result } = await post(payload(calls.finished));
		expect(result).toMatchObject({
			webhookResponse: { received: true },
			workflowData: [[{ json: { call_id: calls.finished } }]],
		});
	});
});

describe('unusable requests', () => {
	const tooLarge = Object.assign(new Error('too large'), { status: 413 });

	it.each<[string, WebhookRequest, number, string]>([
		['not JSON', { rawBody: Buffer.from('call_id=1') }, 400, "The body isn't JSON."],
		['empty', { rawBody: Buffer.alloc(0) }, 400, 'The body is empty.'],
		['without call_id', { body: { status: 'picked' } }, 400, 'The body has no call_id.'],
		['a list', { body: [] }, 400, 'The body has no call_id.'],
		[
			'too large',
			{ readRawBody: async () => await Promise.reject(tooLarge) },
			413,
			'The body is too large.',
		],
		[
			'cut off',
			{ readRawBody: async () => await Promise.reject(new Error('aborted')) },
			400,
			"The body can't be read.",
		],
	])('%s: answered, nothing emitted', async (_name, request, status, message) => {
		const node = harness.node('callCompletedTrigger', { parameters: {} });
		const workflow = makeWorkflow([node]);
		const { context, response } = webhookContext(harness.credentials, workflow, node, request);
		const type = nodeTypes.getByNameAndVersion(node.type);
		expect(await type.webhook?.call(context)).toEqual({ noWebhookResponse: true });
		expect(response).toMatchObject({
			statusCode: status,
			body: { received: false, message },
		});
	});
});
