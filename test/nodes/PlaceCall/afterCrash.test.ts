import type { INodeParameters } from 'n8n-workflow';
import {
	oneNodeWorkflow,
	output,
	retryFailed,
	retryKilled,
	runWorkflow,
	service,
	skipSleeps,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	itemsOf,
	people,
	perItem,
	phone,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { kill, retryAfterKill: retry } = harness;
afterEach(() => jest.restoreAllMocks());

describe('Retry after n8n was killed', () => {
	it('places no call again, and lists everyone who may have been called', async () => {
		acceptCalls(2);
		const node = harness.placeCallNode(perItem);
		const begun = await kill(node, people(2));
		const { message, description } = faultOf(await retry(begun, node, people(3)));
		expect(message).toBe(
			'An earlier attempt of this execution may have sent this, and n8n has no record of the result (call to 9876543210, IN) [item 0]',
		);
		expect(description).toContain('[item 1] An earlier attempt');
		expect(description).toContain('9876543211');
		expect(description).not.toContain('9876543212');
		expect(description).toContain('This attempt sent nothing.');
	});

	it('if a failed item does not stop the node, places the calls that were not started', async () => {
		const bodies = acceptCalls(3);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const items = output(await retry(begun, node, people(3)), 'Node').map(({ json }) => json);
		expect(items.map(({ error }) => error !== undefined)).toEqual([true, true, false]);
		expect(items[2]).toMatchObject({ call_id: 'call-9876543212' });
		expect(bodies.map((body) => body.phone_number)).toEqual([phone(0), phone(1), phone(2)]);
	});

	it("doesn't say that an item wasn't sent if its fields can't be read since an edit", async () => {
		const bodies = acceptCalls(1);
		const begun = await kill(harness.placeCallNode(perItem, CONTINUE), people(1));
		const edited = harness.placeCallNode({ ...perItem, phoneNumber: 'unknown' }, CONTINUE);
		const [item] = output(await retry(begun, edited, people(1)), 'Node');
		expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
		expect(JSON.stringify(item?.json)).toContain('Then retry the execution again.');
		const stopping = harness.placeCallNode({ ...perItem, phoneNumber: 'unknown' });
		const { description } = faultOf(await retry(begun, stopping, people(1)));
		expect(description).toContain('An earlier attempt may have sent this item');
		expect(bodies).toHaveLength(1);
	});

	it.each([
		['Continue', CONTINUE],
		['Stop', {}],
	])(
		"doesn't say that an item wasn't sent if the node can't run since an edit (%s)",
		async (_which, onError) => {
			const bodies = acceptCalls(1);
			const begun = await kill(harness.placeCallNode(perItem, CONTINUE), people(1));
			const edited = { ...perItem, developerSettings: { concurrency: 'many' } };
			const run = await retry(begun, harness.placeCallNode(edited, onError), people(1));
			expect(bodies).toHaveLength(1);
			if (onError === CONTINUE) {
				const [item] = output(run, 'Node');
				expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
			} else
				expect(faultOf(run).description).toContain('An earlier attempt may have sent this item');
		},
	);

	it("says that an item wasn't sent if the node can't run and no request had begun", async () => {
		const begun = await kill(harness.placeCallNode(perItem), []);
		const edited = harness.placeCallNode(
			{ ...perItem, developerSettings: { concurrency: 'many' } },
			CONTINUE,
		);
		const [item] = output(await retry(begun, edited, people(1)), 'Node');
		expect(item?.json).toMatchObject({ details: { outcome: 'not_sent' } });
	});

	it("doesn't say that an item wasn't sent if neither its fields nor n8n's database can be read", async () => {
		skipSleeps();
		const node = harness.placeCallNode({ ...perItem, phoneNumber: 'unknown' }, CONTINUE);
		const begun = await kill(node, []);
		harness.store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const [item] = output(await retry(begun, node, people(1)), 'Node');
		expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
	});

	it("says that an item wasn't sent if its fields can't be read and no request had begun", async () => {
		const node = harness.placeCallNode({ ...perItem, phoneNumber: 'unknown' }, CONTINUE);
		const begun = await kill(node, []);
		const [item] = output(await retry(begun, node, people(1)), 'Node');
		expect(item?.json).toMatchObject({ details: { outcome: 'not_sent' } });
	});

	it('recognizes people by number, also if their row moved', async () => {
		const bodies = acceptCalls(3);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const moved = [{ phone: phone(7) }, { phone: phone(1) }, { phone: '098765 43210' }];
		const run = await retry(begun, node, moved);
		expect(output(run, 'Node').map(({ json }) => json.error === undefined)).toEqual([
			true,
			false,
			false,
		]);
		expect(bodies.map((body) => body.phone_number)).toEqual([phone(0), phone(1), phone(7)]);
	});

	it('recognizes people by number, also if it is in another format since an edit', async () => {
		const german = { countryCode: 'DE', phoneNumber: '={{ $json.phone }}' };
		const bodies = acceptCalls(1);
		const begun = await kill(harness.placeCallNode(german), [{ phone: '030 1234567' }]);
		const edited = harness.placeCallNode({ ...german, phoneNumber: '+49 30 1234567' });
		const again = acceptUpTo(1);
		expect(faultOf(await retry(begun, edited)).message).toContain('may have sent this');
		expect([bodies.length, again.length]).toEqual([1, 0]);
	});

	it('repeatedly places no call again, whichever execution is retried', async () => {
		acceptCalls(3);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const once = await retry(begun, node, people(3));
		for (const from of [begun, once.data]) {
			const again = await retry(from, node, people(3));
			const called = output(again, 'Node').map(({ json }) => json.call_id);
			// The result of the first retry is stored with it.
			const third = from === begun ? undefined : 'call-9876543212';
			expect(called).toEqual([undefined, undefined, third]);
		}
	});

	it('places rejected calls again', async () => {
		acceptCalls(1);
		service().post('/v1/call').reply(400, { success: false, error: 'no' });
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		acceptCalls(1);
		const run = await retry(begun, node, people(2));
		expect(output(run, 'Node').map(({ json }) => json.call_id)).toEqual([
			undefined,
			'call-9876543211',
		]);
	});

	it('places all calls if none was started', async () => {
		acceptCalls(2);
		const node = harness.placeCallNode(perItem);
		const begun = await kill(node, []);
		const run = await retry(begun, node, people(2));
		expect(output(run, 'Node')).toHaveLength(2);
	});

	it('stores two notes for each request, and one for itself', async () => {
		const node = harness.placeCallNode(perItem);
		const begun = await kill(node, []);
		acceptCalls(1);
		await retry(begun, node, people(1));
		expect(harness.store.size).toBe(3);
	});

	it("doesn't advise to run an item again whose call an earlier attempt placed", async () => {
		acceptCalls(1);
		service().post('/v1/call').reply(401, { success: false, error: 'no' });
		const node = harness.placeCallNode(perItem);
		const { workflow, start } = oneNodeWorkflow(node);
		const failed = await runWorkflow(harness.credentials, workflow, start, itemsOf(people(3)));
		expect(faultOf(failed).description).toContain('1 call was already placed in this run (item 0)');
		// The first retry places the call of item 1, and is killed.
		acceptCalls(2);
		await retryKilled(harness.credentials, failed, workflow);
		const { message, description } = faultOf(
			await retryFailed(harness.credentials, failed, workflow),
		);
		expect(message).toContain('[item 1]');
		expect(description).toMatch(/already placed.*item 0/);
	});

	it("doesn't advise to run an item again whose call may have been placed by an earlier attempt", async () => {
		service()
			.post('/v1/call')
			.replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
		const node = harness.placeCallNode(perItem);
		const { workflow, start } = oneNodeWorkflow(node);
		const failed = await runWorkflow(harness.credentials, workflow, start, itemsOf(people(2)));
		expect(faultOf(failed).message).toContain('[item 0]');
		// The first retry continues after it, places the call of item 1, and is killed.
		acceptCalls(1);
		const { workflow: continuing } = oneNodeWorkflow({ ...node, ...CONTINUE });
		await retryKilled(harness.credentials, failed, continuing);
		const { message, description } = faultOf(
			await retryFailed(harness.credentials, failed, workflow),
		);
		expect(message).toContain('[item 0]');
		expect(description).toContain('[item 1]');
	});

	it('places no call again if an earlier item of the same person was never started', async () => {
		const bodies = acceptCalls(1);
		const node = harness.placeCallNode(
			{ ...perItem, when: 'dateTime', scheduledAt: '={{ $json.at }}' },
			CONTINUE,
		);
		const rows = [
			{ phone: phone(0), at: '2020-01-31T10:00:00+05:30' },
			{ phone: phone(0), at: '2040-01-31T10:00:00+05:30' },
		];
		const begun = await kill(node, rows);
		expect(bodies).toHaveLength(1);
		const items = output(await retry(begun, node, rows), 'Node').map(({ json }) => json.error);
		expect(bodies).toHaveLength(1);
		expect(items[0]).toContain('past');
		expect(items[1]).toContain('An earlier attempt of this execution may have sent this');
	});

	it('places no call again if an earlier item of the same person was rejected', async () => {
		service().post('/v1/call').reply(400, { success: false, error: 'no' });
		const node = harness.placeCallNode({ ...perItem, personName: '={{ $json.name }}' }, CONTINUE);
		const rows = [
			{ phone: phone(0), name: 'Too long' },
			{ phone: phone(0), name: 'Asha' },
		];
		const bodies = acceptCalls(1);
		const begun = await kill(node, rows);
		expect(bodies).toMatchObject([{ person_name: 'Asha' }]);
		const again = acceptCalls(1);
		const items = output(await retry(begun, node, rows), 'Node').map(({ json }) => json.error);
		expect(again.map((body) => body.person_name)).not.toContain('Asha');
		expect(items[1]).toContain('An earlier attempt of this execution may have sent this');
	});
});

describe('a second retry of an execution with two items of one person, after the first one was killed', () => {
	/** Item 0 is called and item 1 rejected. The first retry calls item 1. @returns the calls of the second retry */
	async function retriedTwice(parameters: INodeParameters, edits: INodeParameters = {}) {
		const rows = ['Asha', 'Ravi'].map((name) => ({ phone: phone(0), name }));
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode({ ...perItem, ...parameters });
		const failed = await harness.run(node, rows);
		const bodies = acceptUpTo(1);
		await retryKilled(harness.credentials, failed, oneNodeWorkflow(node).workflow);
		expect(bodies).toHaveLength(1);
		const again = acceptUpTo(1);
		const edited = harness.placeCallNode({ ...perItem, ...parameters, ...edits });
		const { message } = faultOf(await harness.retry(failed, edited));
		expect(message).toContain('[item 1]');
		return again;
	}

	it('places no call again if the items are equal', async () => {
		expect(await retriedTwice({})).toEqual([]);
	});

	it('places no call again if the items have become equal since an edit', async () => {
		const named = { personName: '={{ $json.name }}' };
		expect(await retriedTwice(named, { personName: 'Ravi' })).toEqual([]);
	});
});

test('a second retry after an edit calls nobody again whom the first one called, if the outcome of an equal item is unknown', async () => {
	callsEndpoint().reply(502, '<html>Bad Gateway</html>');
	rejectCall();
	const rows = [{ phone: phone(0) }, { phone: phone(0) }];
	const atOnce = harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 2 } });
	const failed = await harness.run(atOnce, rows);
	const edited = harness.placeCallNode(perItem, CONTINUE);
	const bodies = acceptUpTo(1);
	await retryKilled(harness.credentials, failed, oneNodeWorkflow(edited).workflow);
	expect(bodies).toHaveLength(1);
	const again = acceptUpTo(1);
	const items = output(await harness.retry(failed, edited), 'Node').map(({ json }) => json);
	expect(again).toEqual([]);
	expect(items).toMatchObject([
		{ details: { outcome: 'unknown' } },
		{ details: { outcome: 'unknown' } },
	]);
});

describe('an execution that ended normally', () => {
	it('leaves no entries, whether it succeeded or failed', async () => {
		acceptCalls(2);
		await harness.place(perItem, { items: people(2) });
		expect(harness.store.size).toBe(0);
		service().post('/v1/call').reply(400, { success: false, error: 'no' });
		await harness.place(perItem, { items: people(1) });
		expect(harness.store.size).toBe(0);
	});

	it('sends nothing if the entry cannot be written', async () => {
		skipSleeps();
		harness.store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const { message, description } = faultOf(await harness.place(perItem, { items: people(1) }));
		expect(message).toBe("n8n can't record the request before sending it, so it wasn't sent");
		expect(description).toContain('n8n said: database is locked');
	});
});
