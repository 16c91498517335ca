import type { INode, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	makeWorkflow,
	oneNodeWorkflow,
	output,
	resume,
	runKilled,
	runKilledAfter,
	service,
	skipSleeps,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	CALL_LIST,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	itemsOf,
	listedCall,
	NIGHT,
	NOON,
	people,
	perItem,
	phone,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { kill, retryAfterKill } = harness;
const PLACED = `call-${phone(0)}`;

let itIs: (iso: string) => void;
beforeEach(() => (itIs = skipSleeps(Date.parse(NOON))));
afterEach(() => jest.restoreAllMocks());

/** Place Call with *Look It Up*. */
async function lookUpNode(
	{ options = {}, ...parameters }: INodeParameters & { options?: INodeParameters } = {},
	over: Partial<INode> = {},
): Promise<INode> {
	return harness.placeCallNode(
		{ ...perItem, ...parameters, options: { ifUnknown: 'lookUp', ...options } },
		{ credentials: { [CREDENTIAL]: await harness.addCredential(CALL_LIST) }, ...over },
	);
}

let listed: object[];
/** From now on, the call list shows these calls, whenever it's read. */
function shows(...calls: object[]): void {
	listed = calls;
	service()
		.get('/v1/calls')
		.query(true)
		.times(40)
		.optionally()
		.reply(200, () => ({ success: true, data: listed }));
}

/** Of two calls to one person, only the second one is placed. The retry places none, and doesn't find it for the first one. */
async function expectFirstNotFound(node: INode): Promise<void> {
	const bodies = acceptCalls(1);
	const rows = ['First', 'Second'].map((name) => ({ phone: phone(0), name }));
	const begun = await kill(node, rows);
	expect(bodies).toMatchObject([{ person_name: 'Second' }]);
	shows(listedCall(PLACED));
	const again = acceptUpTo(2);
	const [first] = output(await retryAfterKill(begun, node), 'Node').map(({ json }) => json);
	expect(again).toEqual([]);
	expect(first?.call_id).not.toBe(PLACED);
}

describe('a retry after n8n was killed', () => {
	it('outside the calling hours, returns the call that was placed', async () => {
		acceptCalls(1);
		const node = await lookUpNode({
			options: { callingHours: { hours: HOURS }, outsideCallingHours: 'notPlaced' },
		});
		const begun = await kill(node, people(1));
		itIs(NIGHT);
		shows(listedCall(PLACED));
		const run = await retryAfterKill(begun, node);
		expect(output(run, 'Node').map(({ json }) => json)).toMatchObject([
			{ call_id: PLACED, placed: true },
		]);
	});

	describe('after the scheduled time', () => {
		const scheduled = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T13:00:00+05:30" }}' };

		it("returns the call that was placed, and doesn't say that nothing was sent", async () => {
			acceptCalls(1);
			const node = await lookUpNode(scheduled);
			const begun = await kill(node, people(1));
			itIs(NIGHT);
			shows(listedCall(PLACED));
			const run = await retryAfterKill(begun, node);
			expect(run.data.resultData.error?.description ?? '').not.toContain('Nothing was sent');
			expect(output(run, 'Node').map(({ json }) => json.call_id)).toEqual([PLACED]);
		});

		it("with Continue, doesn't return the call that was placed as not sent", async () => {
			acceptCalls(1);
			const node = await lookUpNode(scheduled, CONTINUE);
			const begun = await kill(node, people(1));
			itIs(NIGHT);
			shows(listedCall(PLACED));
			const [item] = output(await retryAfterKill(begun, node), 'Node');
			expect(item?.json).not.toMatchObject({ details: { outcome: 'not_sent' } });
			expect(item?.json.call_id).toBe(PLACED);
		});
	});

	it.each([
		['is invalid', { phone: 'none' }],
		['has its scheduled time in the past', { phone: phone(1), at: '2026-11-20T13:00:00+05:30' }],
	])(
		'if another item %s, names the call that may have been placed, and sends nothing',
		async (_which, invalid) => {
			acceptCalls(1);
			const node = await lookUpNode({ when: 'dateTime', scheduledAt: '={{ $json.at }}' });
			const rows = [{ phone: phone(0), at: '2026-11-20T23:30:00+05:30' }];
			const begun = await kill(node, rows);
			itIs(NIGHT);
			const again = acceptUpTo(3);
			const later = { phone: phone(2), at: '2026-11-20T23:30:00+05:30' };
			const run = await retryAfterKill(begun, node, [...rows, later, invalid]);
			const { message, description } = faultOf(run);
			expect(again).toEqual([]);
			expect(message).toContain(`(call to ${phone(0)}, IN) [item 0]`);
			expect(description).toContain('[item 2]');
			expect(description).toContain('This attempt sent nothing. Run the other items');
			expect(description).not.toContain('Nothing was sent, because all items are checked');
		},
	);

	it("doesn't report a rejected call as placed because another one to the same person was", async () => {
		rejectCall();
		const bodies = acceptCalls(1);
		const node = await lookUpNode({ personName: '={{ $json.name }}' }, CONTINUE);
		const rows = ['Too long', 'Asha'].map((name) => ({ phone: phone(0), name }));
		const begun = await kill(node, rows);
		expect(bodies).toMatchObject([{ person_name: 'Asha' }]);
		shows(listedCall(PLACED));
		acceptUpTo(1);
		const run = await retryAfterKill(begun, node);
		const [rejected, placed] = output(run, 'Node').map(({ json }) => json);
		expect(rejected?.call_id).not.toBe(PLACED);
		expect(placed).toMatchObject({ call_id: PLACED, looked_up: true });
	});

	it("doesn't return the call of a later item as that of an earlier one to the same person", async () => {
		const node = await lookUpNode({ personName: '={{ $json.name }}' }, CONTINUE);
		// The service doesn't place the first call, and its response is lost.
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		shows();
		await expectFirstNotFound(node);
	});

	it("if the values of two calls to one person changed, doesn't return the call of the second as that of the first, which was rejected", async () => {
		const node = await lookUpNode(
			{
				personName: '={{ $json.name }}',
				// Differs in each execution.
				options: { additionalBodyFields: '={ "sent_by": "{{ $execution.id }}" }' },
			},
			CONTINUE,
		);
		rejectCall();
		await expectFirstNotFound(node);
	});

	it("places no call again if n8n's database stores the notes of the retry, but reports an error", async () => {
		acceptCalls(1);
		const node = await lookUpNode();
		const begun = await kill(node, people(1));
		shows();
		const again = acceptUpTo(1);
		harness.store.failAfterNextAdd();
		await retryAfterKill(begun, node);
		expect(again).toEqual([]);
	});

	describe('if the call list shows only the first call', () => {
		const rows = (...ifUnknown: string[]) =>
			ifUnknown.map((how, index) => ({ phone: phone(index), how }));

		/** The message of the retry. */
		async function retryWith(...ifUnknown: string[]) {
			acceptCalls(ifUnknown.length);
			const node = await lookUpNode({ options: { ifUnknown: '={{ $json.how }}' } });
			const begun = await kill(node, rows(...ifUnknown));
			shows(listedCall(PLACED));
			return faultOf(await retryAfterKill(begun, node));
		}

		it('the message also names the later calls that were started', async () => {
			const { message, description } = await retryWith('lookUp', 'lookUp', 'lookUp');
			expect(message).toContain('[item 1]');
			expect(description).toContain(phone(2));
		});

		it("started items with Look It Up aren't among those to run in a new execution", async () => {
			const { message, description } = await retryWith('fail', 'lookUp');
			expect(message).toContain('[item 0]');
			expect(description).toContain('Run the other items in a new execution');
			expect(description).toContain(phone(1));
		});
	});
});

test("a retry after n8n was killed between two runs of a loop doesn't return the first run's call as that of the second", async () => {
	const node = await lookUpNode();
	const { workflow } = oneNodeWorkflow(node);
	acceptCalls(1);
	rejectCall();
	const runs = [itemsOf(people(1)), itemsOf(people(1))];
	const begun = await runKilledAfter(harness.credentials, workflow, 'Node', runs, 1, clock.now());
	shows(listedCall(PLACED, { created_at: new Date(clock.now() + 1_000).toISOString() }));
	acceptUpTo(1);
	const { data } = await resume(harness.credentials, workflow, begun, 'retry');
	const results = data.resultData.runData.Node ?? [];
	const ids = results.map((result) => result.data?.main?.[0]?.[0]?.json.call_id);
	expect(ids[0]).toBe(PLACED);
	expect(ids[1]).not.toBe(PLACED);
});

test("a retry after n8n was killed doesn't return the call of one node as that of another one to the same person", async () => {
	const first = await lookUpNode({ phoneNumber: phone(0) });
	const second = await lookUpNode(
		{ phoneNumber: phone(0) },
		{ name: 'Second', id: 'id-Second', onError: 'continueRegularOutput' },
	);
	const { workflow: one, start } = oneNodeWorkflow(first);
	const connections = {
		...one.connectionsBySourceNode,
		[first.name]: { main: [[{ node: second.name, type: 'main' as const, index: 0 }]] },
	};
	const workflow = makeWorkflow([start, first, second], connections);
	acceptCalls(1);
	callsEndpoint().reply(502, '<html>Bad Gateway</html>');
	shows();
	const begun = await runKilled(harness.credentials, workflow, start, itemsOf([{}]), clock.now());
	shows(listedCall(PLACED));
	const again = acceptUpTo(2);
	const run = await resume(harness.credentials, workflow, begun, 'retry');
	expect(output(run, 'Node').map(({ json }) => json.call_id)).toEqual([PLACED]);
	const [other] = output(run, 'Second');
	expect(other?.json).toMatchObject({ details: { outcome: 'unknown' } });
	expect(again).toEqual([]);
});
