import type { ICredentialDataDecryptedObject, IDataObject, INode, IRun } from 'n8n-workflow';
import { createRunExecutionData } from 'n8n-workflow';
import nock from 'nock';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	mockTime,
	runKilled,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	retryKilled,
	runWorkflow,
	service,
	startNode,
	stoppedResult,
	storedCopy,
} from '../../engine';
import {
	CALL_LIST as MAPPING,
	callsEndpoint,
	faultOf,
	HOURS,
	listedCall as call,
	perItem,
	placeCallHarness,
	waitBy,
} from './placeCallHarness';

const harness = placeCallHarness();
const parameters = { ...perItem, options: { ifUnknown: 'lookUp' } };
const PHONE = '9876543210';
const OTHER = '9876543211';

let waits: number[] = [];
const waited = () => waits.reduce((sum, ms) => sum + ms, 0);
beforeEach(() => {
	waits = [];
	const now = jest.spyOn(clock, 'now').mockReturnValue(Date.parse('2026-11-20T12:00:00.700+05:30'));
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		waits.push(ms);
		now.mockReturnValue(clock.now() + ms);
		await Promise.resolve();
	});
});
afterEach(() => jest.restoreAllMocks());

const breaking = () =>
	callsEndpoint().replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
const list = (query: object = { ph: `+91${PHONE}` }) =>
	service()
		.get('/v1/calls')
		.query({ ...query });
const shows = (...calls: object[]) => list().reply(200, { success: true, data: calls });

async function nodeWith(
	mapping: ICredentialDataDecryptedObject = MAPPING,
	options: IDataObject = {},
) {
	return harness.placeCallNode(
		{ ...parameters, options: { ...parameters.options, ...options } },
		{ credentials: { [CREDENTIAL]: await harness.addCredential(mapping) } },
	);
}

async function run(node: INode, phones = [PHONE], rows: IDataObject = {}): Promise<IRun> {
	const { workflow, start } = oneNodeWorkflow(node);
	const input = phones.map((phone) => ({ json: { phone, ...rows } }));
	return await runWorkflow(harness.credentials, workflow, start, input, 'trigger');
}
const json = (done: IRun) => output(done, 'Node').map((item) => item.json);
const FOUND = {
	call_id: 'a',
	created_at: '2026-11-20T12:00:00+05:30',
	looked_up: true,
	phone_key: `91${PHONE}`,
};

describe('a call without a response', () => {
	it('was placed if the list shows one new call of this agent to this number', async () => {
		breaking();
		shows(call('a'));
		const done = await run(await nodeWith());
		expect(done.data.resultData.error).toBeUndefined();
		expect(json(done)).toEqual([FOUND]);
	});

	it('is searched three times in half a minute, because the list may lag', async () => {
		breaking();
		shows();
		shows();
		shows(call('a'));
		expect(json(await run(await nodeWith()))).toEqual([FOUND]);
		expect(waited()).toBe(30_000);
	});

	it('stays unknown if the list shows no call', async () => {
		breaking();
		shows();
		shows();
		shows();
		const { message, description } = faultOf(await run(await nodeWith()));
		expect(message).toContain('the outcome is unknown (call to 9876543210, IN)');
		expect(description).toContain(
			'The call list shows no call of this agent to +919876543210 since the request was sent',
		);
		expect(description).toContain('so the call may still have been placed');
		expect(description).toContain("The request wasn't sent again");
	});

	it.each<[string, object]>([
		['an earlier call', call('a', { created_at: '2026-11-20T11:59:59+05:30' })],
		['a call without a time', call('a', { created_at: null })],
		['a call at an hour of no certain zone', call('a', { created_at: '2026-11-20T13:00:00' })],
		['a call to another number', call('a', { phone_number: `+91${OTHER}` })],
		['a call to a number without its country', call('a', { phone_number: PHONE })],
		['a call of another agent', call('a', { agent_uuid: 'agent_b2' })],
		['a call of a campaign', call('a', { campaign_id: 7 })],
		['a call of a contact list', call('a', { campaign_upload_id: 7 })],
	])('is not %s', async (_what, seen) => {
		breaking();
		for (let poll = 1; poll <= 3; poll++) shows(seen);
		expect(faultOf(await run(await nodeWith())).description).toContain(
			'shows no call of this agent',
		);
	});

	it('stays unknown if two calls match, and both are listed', async () => {
		breaking();
		for (let poll = 1; poll <= 3; poll++) shows(call('a'), call('b'));
		expect(faultOf(await run(await nodeWith())).description).toContain(
			'The call list shows a, b to +91',
		);
	});

	it('is not the call of another item to the same number', async () => {
		callsEndpoint().reply(200, { success: true, data: { call_id: 'a' } });
		breaking();
		for (let poll = 1; poll <= 3; poll++) shows(call('a'));
		const { message, description } = faultOf(await run(await nodeWith(), [PHONE, PHONE]));
		expect(message).toContain('[item 1]');
		expect(description).toContain('shows no call of this agent');
	});

	it('is not the call of another item, also if the list shows its UUID in upper case', async () => {
		const id = '6f1c2a34-0000-4000-8000-00000000000a';
		callsEndpoint().reply(200, { success: true, data: { call_id: id } });
		breaking();
		for (let poll = 1; poll <= 3; poll++) shows(call(id.toUpperCase()));
		const { description } = faultOf(await run(await nodeWith(), [PHONE, PHONE]));
		expect(description).toContain('shows no call of this agent');
	});

	it('stays unknown if another call to the same number is in progress', async () => {
		breaking();
		breaking();
		for (let poll = 1; poll <= 6; poll++) shows(call('a'));
		const done = await run(await nodeWith(MAPPING, { concurrency: 2 }), [PHONE, PHONE]);
		expect(faultOf(done).description).toContain('Other calls to this number were in progress');
	});

	it('is found once, and its completion is awaited', async () => {
		breaking();
		shows(call('a'));
		service()
			.get('/v1/call/a')
			.reply(200, { success: true, data: call('a', { status: 'not_picked' }) });
		const node = await nodeWith(MAPPING, waitBy('reading').options);
		expect(json(await run(node))).toMatchObject([
			{ call_id: 'a', status: 'not_picked', looked_up: true, timed_out: false },
		]);
	});
});

describe('a found call that was scheduled', () => {
	let now: number;
	/** The call list shows the call, and it ends at this time. */
	function endsAt(iso: string, found = call('a')): void {
		shows(found);
		service()
			.get('/v1/call/a')
			.times(100_000)
			.optionally()
			.reply(() => {
				const over = now > Date.parse(iso) ? { status: 'not_picked' } : {};
				return [200, { success: true, data: call('a', over) }];
			});
	}
	beforeEach(() => {
		now = Date.parse('2026-11-20T12:00:00+05:30');
		mockTime(() => now);
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			now += ms;
			await Promise.resolve();
		});
	});

	it('is awaited from the time at which it is due', async () => {
		breaking();
		endsAt('2026-11-21T12:05:00+05:30');
		const node = await nodeWith(MAPPING, waitBy('reading').options);
		Object.assign(node.parameters, { when: 'dateTime', scheduledAt: '2026-11-21T12:00:00+05:30' });
		expect(json(await run(node))).toMatchObject([{ status: 'not_picked', timed_out: false }]);
	});

	it('is awaited from the next opening if only a later attempt scheduled it for then', async () => {
		now = Date.parse('2026-11-20T17:59:50+05:30');
		callsEndpoint().reply(429, { success: false, error: 'slow down' }, { 'Retry-After': '18' });
		const opening = '2026-11-23T09:00:00+05:30';
		const isForOpening = ({ scheduled_at: at }: IDataObject) => at === opening;
		service().post('/v1/call', isForOpening).reply(502, 'Bad Gateway');
		endsAt('2026-11-23T09:05:00+05:30', call('a', { created_at: '2026-11-20T18:00:09+05:30' }));
		const node = await nodeWith(MAPPING, {
			callingHours: { hours: HOURS },
			...waitBy('reading').options,
		});
		expect(json(await run(node))).toMatchObject([{ status: 'not_picked', timed_out: false }]);
	});
});

describe('a found call with a question', () => {
	it("isn't a yes, because the call may have asked another question", async () => {
		breaking();
		shows(call('a'));
		const data_captured = { answer_to_question: 'yes' };
		const over = { status: 'picked', summary: 'Asked.', data_captured };
		service()
			.get('/v1/call/a')
			.reply(200, { success: true, data: call('a', over) });
		const node = await nodeWith(MAPPING, waitBy('reading').options);
		Object.assign(node.parameters, {
			operation: 'sendAndWait',
			message: 'May we ship?',
			yesValues: 'yes',
			noValues: 'no',
		});
		expect(json(await run(node))).toMatchObject([
			{
				call_id: 'a',
				looked_up: true,
				answer: 'unclear',
				captured_answer: 'yes',
				data: { approved: false },
			},
		]);
	});
});

describe('if the list', () => {
	it('has no filter by number, calls are filtered by time', async () => {
		breaking();
		list({ since: '2026-11-20T11:55:00+05:30' }).reply(200, { success: true, data: [call('a')] });
		const mapping = { ...MAPPING, callListPhoneName: '', callListFromName: 'since' };
		const node = await nodeWith(mapping);
		const { workflow, start } = oneNodeWorkflow(node, [], { timezone: 'Asia/Kolkata' });
		const input = [{ json: { phone: PHONE } }];
		const done = await runWorkflow(harness.credentials, workflow, start, input, 'trigger');
		expect(json(done)).toEqual([FOUND]);
	});

	it('filters by days only, the day before is included', async () => {
		breaking();
		list({ since: '2026-11-19' }).reply(200, { success: true, data: [call('a')] });
		const byDay = { callListFromName: 'since', callListDateForm: 'date' };
		const node = await nodeWith({ ...MAPPING, callListPhoneName: '', ...byDay });
		expect(json(await run(node))).toEqual([FOUND]);
	});

	it('has no filter by number or time, the message says what to set, and nothing is read', async () => {
		breaking();
		const { description } = faultOf(
			await run(await nodeWith({ ...MAPPING, callListPhoneName: '' })),
		);
		expect(description).toContain(
			"The call list can't be read: The credential lacks settings for the call list. Send your service provider the questionnaire that is linked in the credential. Then turn on 'My Provider Sent Settings' there and paste the reply into 'Settings From Your Provider'. Or turn on 'Set Up the Call List' and fill in 'Phone Filter Name'.",
		);
	});

	it('cannot be read, the call stays unknown', async () => {
		breaking();
		for (let poll = 1; poll <= 3; poll++) list().times(4).reply(503, 'down');
		expect(faultOf(await run(await nodeWith())).description).toContain(
			"The call list can't be read",
		);
	});

	it('is rejected, it is not read again, and the service is quoted', async () => {
		breaking();
		list().reply(422, { success: false, errors: ['ph is unknown'] });
		expect(faultOf(await run(await nodeWith())).description).toMatch(
			/The call list can't be read: .* Correct what the service names, then try again\. The service said: ph is unknown\./,
		);
		expect(waited()).toBe(2_000);
	});

	describe('has several pages', () => {
		const mapping = { ...MAPPING, callListPaging: 'pageFromOne', callListPageName: 'p' };
		const page = (number: number, ...calls: object[]) =>
			list({ ph: `+91${PHONE}`, ...(number > 1 && { p: number }) }).reply(200, {
				success: true,
				data: calls,
			});
		const older = (id: string) => call(id, { created_at: '2026-11-20T11:00:00+05:30' });

		it('it is read twice', async () => {
			breaking();
			for (let reading = 1; reading <= 2; reading++) {
				page(1, call('a'));
				page(2, older('b'));
				page(3);
			}
			expect(json(await run(await nodeWith(mapping)))).toEqual([FOUND]);
			expect(nock.isDone()).toBe(true);
		});

		it('and changes while it is read, a single call does not match if another one was missed', async () => {
			breaking();
			// The second call moves to the first page, unread, when an older one is removed.
			page(1, older('x'), call('a'));
			page(2, older('y'));
			page(3);
			for (let reading = 2; reading <= 3; reading++) {
				page(1, call('a'), call('b'));
				page(2, older('y'));
				page(3);
			}
			for (let poll = 2; poll <= 3; poll++) {
				page(1, call('a'), call('b'));
				page(2);
				page(1, call('a'), call('b'));
				page(2);
			}
			expect(faultOf(await run(await nodeWith(mapping))).description).toContain(
				'The call list shows a, b to +91',
			);
		});

		it('and has too many calls, the call stays unknown', async () => {
			breaking();
			list()
				.times(3)
				.reply(200, {
					success: true,
					data: Array.from({ length: 1_001 }, (_, number) => older(`old ${number}`)),
				});
			expect(faultOf(await run(await nodeWith(mapping))).description).toContain(
				"The call list has more than 1000 calls, so it wasn't read completely",
			);
		});
	});

	it('may be incomplete, the call is not searched in it', async () => {
		breaking();
		const { description } = faultOf(
			await run(await nodeWith({ ...MAPPING, callListPath: '', callListPaging: '' })),
		);
		expect(description).toContain("'Path to List in Response', 'Pagination'");
	});
});

it('a number without a clear international format is not searched', async () => {
	breaking();
	const node = await nodeWith();
	Object.assign(node.parameters, { countryCode: 'SG' });
	const { description } = faultOf(await run(node, ['65123456']));
	expect(description).toContain('its number has no clear international format');
});

it('without the option, nothing is searched', async () => {
	breaking();
	const node = await nodeWith(MAPPING, { ifUnknown: 'fail' });
	expect(faultOf(await run(node)).description).not.toContain('looked up');
});

it('after several failed searches, each further call is searched once', async () => {
	const phones = [0, 1, 2, 3, 4].map((last) => `987654321${last}`);
	for (const [index, phone] of phones.entries()) {
		breaking();
		list({ ph: `+91${phone}` })
			.times(index < 3 ? 3 : 1)
			.reply(200, { success: true, data: [] });
	}
	const node = await nodeWith();
	node.onError = 'continueRegularOutput';
	expect(json(await run(node, phones))).toHaveLength(5);
	expect(nock.isDone()).toBe(true);
	expect(waited()).toBe(3 * 30_000 + 2 * 2_000);
});

describe('Retry in the list of executions', () => {
	const reject = () => callsEndpoint().reply(400, { success: false, error: 'not now' });
	const retry = async (failed: IRun, node: INode) =>
		await retryFailed(harness.credentials, failed, oneNodeWorkflow(node).workflow);

	it('returns a found call without another search or call', async () => {
		breaking();
		shows(call('a'));
		reject();
		const node = await nodeWith();
		const failed = await run(node, [PHONE, OTHER]);
		expect(faultOf(failed).description).toContain('1 call was already placed in this run (item 0)');
		callsEndpoint().reply(200, { success: true, data: { call_id: 'b' } });
		expect(json(await retry(failed, node))).toMatchObject([FOUND, { call_id: 'b' }]);
	});

	it('places a rejected call, if the first retry placed another one to the same person', async () => {
		const node = await nodeWith();
		Object.assign(node.parameters, { personName: '={{ ["A", "B"][$itemIndex] }}' });
		reject();
		const failed = await run(node, [PHONE, PHONE]);
		callsEndpoint().reply(200, { success: true, data: { call_id: 'a' } });
		reject();
		const first = await retry(failed, node);
		expect(faultOf(first).message).toContain('rejected the request [item 1]');
		list()
			.times(9)
			.optionally()
			.reply(200, {
				success: true,
				data: [call('a', { created_at: new Date(Date.now() + 1_000).toISOString() })],
			});
		callsEndpoint().reply(200, { success: true, data: { call_id: 'b' } });
		const second = await retry(first, node);
		expect(second.data.resultData.error?.message).toBeUndefined();
		expect(json(second).map(({ call_id }) => call_id)).toEqual(['a', 'b']);
	});

	it('keeps the search result of an unknown call, and never places it again', async () => {
		breaking();
		shows();
		shows();
		shows();
		const node = await nodeWith();
		const failed = await run(node);
		expect(faultOf(await retry(failed, node)).description).toContain('The call list shows no call');
	});
});

describe('on Retry after n8n was killed', () => {
	const STARTED = Date.parse('2026-11-20T12:00:00.700+05:30');

	/** Places the calls without a stored execution. */
	async function retried(phones: string[], ...calls: object[]): Promise<IRun> {
		const node = await nodeWith();
		const { workflow, start } = oneNodeWorkflow(node);
		const rows = phones.map((phone) => ({ json: { phone } }));
		for (const phone of phones) {
			callsEndpoint().reply(200, { success: true, data: { call_id: `lost-${phone}` } });
		}
		const begun = await runKilled(harness.credentials, workflow, start, rows, STARTED);
		shows(...calls);
		return await resume(
			harness.credentials,
			oneNodeWorkflow(node).workflow,
			storedCopy(begun),
			'retry',
		);
	}

	it('finds the call of the earlier attempt, and places none', async () => {
		const run = await retried([PHONE], call('found'));
		expect(output(run, 'Node').map(({ json }) => json)).toMatchObject([
			{ call_id: 'found', looked_up: true },
		]);
	});

	it('reports an unknown outcome if the list shows two calls', async () => {
		service()
			.get('/v1/calls')
			.query(true)
			.times(2)
			.reply(200, {
				success: true,
				data: [call('one'), call('two')],
			});
		const run = await retried([PHONE], call('one'), call('two'));
		expect(faultOf(run).message).toContain('An earlier attempt of this execution may have sent');
		expect(faultOf(run).description).toContain('The call list shows one, two');
	});

	it('ignores calls from before the execution', async () => {
		service()
			.get('/v1/calls')
			.query(true)
			.times(2)
			.reply(200, {
				success: true,
				data: [call('older', { created_at: '2026-11-20T11:59:00+05:30' })],
			});
		const run = await retried([PHONE], call('older', { created_at: '2026-11-20T11:59:00+05:30' }));
		expect(faultOf(run).description).toContain('The call list shows no call of this agent');
	});
});

describe('Stop during the search', () => {
	async function stopInSearch(node: INode) {
		breaking();
		const execution = startNode(harness.credentials, node, [{ json: { phone: PHONE } }]);
		jest.spyOn(clock, 'sleep').mockImplementation(async () => {
			execution.cancel();
			await new Promise(() => {});
		});
		return await stoppedResult(execution);
	}

	test('the message still names the call that may have been placed', async () => {
		const { error } = await stopInSearch(await nodeWith());
		expect(`${error?.message} ${error?.description}`).toContain(PHONE);
		expect(error?.description).toContain('outcome is unknown');
	});

	test('with Continue, the item is still unknown', async () => {
		const node = { ...(await nodeWith()), onError: 'continueRegularOutput' } as const;
		const result = await stopInSearch(node);
		expect(result.data?.main?.[0]?.[0]?.json).toMatchObject({
			error: expect.stringContaining('the outcome is unknown'),
			details: { outcome: 'unknown' },
		});
	});
});

describe('in a loop', () => {
	/** The IDs of the calls of two runs of the node. */
	async function runTwice(node: INode) {
		const task = () => ({ node, data: { main: [[{ json: { phone: PHONE } }]] }, source: null });
		const data = createRunExecutionData({
			executionData: { nodeExecutionStack: [task(), task()] },
		});
		const done = await resume(harness.credentials, oneNodeWorkflow(node).workflow, data);
		const runs = done.data.resultData.runData.Node ?? [];
		return runs.map((one) => one.data?.main?.[0]?.[0]?.json.call_id);
	}

	it("a call without a response isn't the call of an earlier run, also if both are of the same second", async () => {
		callsEndpoint().reply(200, { success: true, data: { call_id: 'a' } });
		breaking();
		for (let poll = 1; poll <= 3; poll++) shows(call('a'));
		expect(await runTwice(await nodeWith())).toEqual(['a', undefined]);
	});

	it('a cached response with the call of an earlier run proves nothing', async () => {
		callsEndpoint()
			.times(2)
			.reply(200, { success: true, data: { call_id: 'a' } });
		expect(await runTwice(harness.placeCallNode(perItem))).toEqual(['a', undefined]);
	});
});

test("a call that an earlier attempt placed for another item isn't treated as a lost one", async () => {
	const accept = (id: string) =>
		callsEndpoint().reply(200, { success: true, data: { call_id: id } });
	accept('a');
	callsEndpoint().reply(401, { success: false, error: 'no' });
	const node = await nodeWith();
	const { workflow } = oneNodeWorkflow(node);
	// The same person, such as for two offers.
	const failed = await run(node, [PHONE, PHONE]);
	expect(faultOf(failed).description).toContain('1 call was already placed in this run (item 0)');
	// The first retry begins the second call, which never arrives. Then n8n is killed.
	breaking();
	for (let look = 0; look < 3; look++) shows();
	await retryKilled(harness.credentials, failed, workflow);
	shows(call('a', { created_at: '2027-01-01T12:00:00+05:30' }));
	for (let look = 0; look < 2; look++) list().optionally().reply(200, { success: true, data: [] });
	const again = await retryFailed(harness.credentials, failed, workflow);
	expect(json(again).map(({ call_id }) => call_id)).not.toEqual(['a', 'a']);
	expect(faultOf(again).message).toContain('[item 1]');
});

test('on a retry, a cached response with the call of an earlier item proves nothing', async () => {
	const accept = (id: string) =>
		callsEndpoint().reply(200, { success: true, data: { call_id: id } });
	accept('a');
	callsEndpoint().reply(401, { success: false, error: 'no' });
	const node = harness.placeCallNode({ phoneNumber: '={{ $json.phone }}' });
	const failed = await run(node, [PHONE, OTHER]);
	accept('a');
	const again = await retryFailed(harness.credentials, failed, oneNodeWorkflow(node).workflow);
	expect(json(again).map(({ call_id }) => call_id)).not.toEqual(['a', 'a']);
	expect(faultOf(again).message).toContain('outcome is unknown');
});
