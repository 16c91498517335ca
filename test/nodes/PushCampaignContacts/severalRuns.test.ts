/** Several runs of Push nodes in an execution. */
import {
	createRunExecutionData,
	type INode,
	type INodeExecutionData,
	type ITaskData,
} from 'n8n-workflow';
import { PUSH_LIMITS } from '../../../nodes/PushCampaignContacts/push/rows';
import { oneNodeWorkflow, resume } from '../../engine';
import {
	accepted,
	ARCHIVED,
	BROKEN,
	fileItem,
	goOn,
	jsonOf,
	manyRows,
	OUTPUTS,
	phone,
	push,
	pushNode,
	runPush,
	scripted,
	type NodeParameters,
	type Reply,
	butRequest,
	campaign,
	phones,
	pushHarness,
} from './pushHarness';

pushHarness();
const itemsOf = (task: ITaskData | undefined, output: number) => task?.data?.main?.[output] ?? [];
/** Of the rows in *Rejected*, and then in *Skipped*. */
const statusesOf = (task: ITaskData | undefined) =>
	[1, 2].flatMap((output) => itemsOf(task, output).map(({ json }) => json.push_status));

describe('a node that runs several times in an execution', () => {
	/** Runs the node once for each list, as in a loop. */
	async function loop(
		lists: INodeExecutionData[][],
		parameters: NodeParameters = {},
		over: Partial<INode> = goOn,
	) {
		const node = pushNode(parameters, over);
		const tasks = lists.map((rows) => ({ node, data: { main: [rows] }, source: null }));
		const data = createRunExecutionData({ executionData: { nodeExecutionStack: tasks } });
		const run = await resume(oneNodeWorkflow(node, OUTPUTS).workflow, data);
		return run.data.resultData.runData.Node ?? [];
	}

	test('pushes a number once, and later runs return it in Skipped', async () => {
		const sent = scripted();
		const options = { output: 'rows' };
		const [first, second] = await loop([manyRows(2), manyRows(2)], { options });
		expect(sent).toEqual([phones(0, 1)]);
		expect([first, second].map((task) => itemsOf(task, 0).length)).toEqual([2, 0]);
		expect(itemsOf(second, 1)).toEqual([]);
		expect(jsonOf(itemsOf(second, 2))).toMatchObject(
			[0, 1].map((row) => ({
				push_status: 'sent_before',
				rejection_reason:
					"An earlier run of this workflow sent this number, or may have, so it wasn't sent again.",
				phone_key: `91${phone(row)}`,
			})),
		);
	});

	test.each<[string, Reply | Error, string[], requests: number]>([
		['whose outcome is unknown', BROKEN, ['unknown'], 1],
		[
			'that the service skipped as a duplicate',
			[200, accepted(1, { engine_skipped_duplicates: [phone(0)] })],
			['sent_before'],
			1,
		],
		['on the do-not-disturb list', [200, accepted(1, { dnd_skipped: [phone(0)] })], [], 2],
		['that was rejected', [401, 'no'], [], 2],
	])('then treats a number %s', async (_which, reply, statuses, requests) => {
		const sent = scripted(butRequest(1, reply));
		const [, second] = await loop([manyRows(1), manyRows(1)]);
		expect(sent).toEqual(Array(requests).fill(phones(0)));
		expect(statusesOf(second)).toEqual(statuses);
	});

	test('with Retry On Fail, does not call a number of an earlier run unknown', async () => {
		const sent = scripted(butRequest(2, BROKEN));
		const tryAgain = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const over = { onError: 'continueErrorOutput', ...tryAgain } as const;
		const [, second] = await loop([manyRows(1), manyRows(2)], {}, over);
		expect(statusesOf(second)).toEqual(['unknown', 'sent_before']);
		expect(sent).toEqual([phones(0), phones(1)]);
	});

	describe('with more rows than n8n remembers of an execution', () => {
		beforeEach(() => {
			jest.replaceProperty(PUSH_LIMITS, 'claimed', 2);
			campaign();
		});
		const large = manyRows(3);
		const small = manyRows(4).slice(2);
		const NONE_REMEMBERED =
			"This execution may have pushed more than 2 rows to the campaign, and n8n doesn't remember that many numbers";

		test.each<[string, INodeExecutionData[][], statuses: string[], message: string]>([
			['a second one', [large, large], Array(3).fill('unknown'), NONE_REMEMBERED],
			['a small one after it', [large, small], Array(2).fill('unknown'), NONE_REMEMBERED],
			[
				'one after a small one',
				[small, large],
				['unknown', 'unknown', 'sent_before'],
				"This execution has pushed to the campaign before, so it can't push more than 2 rows to it now",
			],
		])(
			'does not push %s, because a number may be in both',
			async (_which, lists, statuses, message) => {
				const sent = scripted();
				const [, second] = await loop(lists);
				expect(sent).toHaveLength(1);
				expect(statusesOf(second)).toEqual(statuses);
				expect(itemsOf(second, 1)[0]?.json.rejection_reason).toMatch(message);
			},
		);

		test('pushes them after a push that was rejected', async () => {
			const sent = scripted(butRequest(1, ARCHIVED));
			const [, second] = await loop([large, large]);
			expect([sent.length, statusesOf(second)]).toEqual([2, []]);
		});

		test('says which rows of an earlier push to push in a new execution', async () => {
			scripted(butRequest(2, BROKEN));
			const one = { options: { contactsPerRequest: 1 } };
			const [, second] = await loop([large, large], one);
			expect(itemsOf(second, 1)[0]?.json.rejection_reason).toBe(
				`${NONE_REMEMBERED}. No row was sent now. In a new execution, push only what that push didn't send: row 3. Of that push, these may be in the campaign: row 2.`,
			);
		});
	});

	test('reports no row as not sent that an earlier run pushed', async () => {
		scripted(butRequest(2, ARCHIVED));
		const one = { options: { contactsPerRequest: 1 } };
		const [, second] = await loop([manyRows(1), manyRows(2).reverse()], one);
		expect(statusesOf(second)).toEqual(['not_sent', 'sent_before']);
	});
});

describe('Execute Once, with which n8n passes only the first of several items', () => {
	const ONCE = { executeOnce: true };
	const rows = manyRows(3);
	const file = (row: number) => fileItem(`${row}.csv`, `phone\n${phone(row)}\n`);

	test.each<[string, INodeExecutionData[], NodeParameters]>([
		['rows', rows, {}],
		['files', [file(0), file(1), file(2)], { contactsFrom: 'csv' }],
		['rows that differ in a field', rows, { whatToDo: '={{ $json.release }}' }],
	])('does not push %s without the others', async (_what, input, parameters) => {
		const { error } = await runPush(input, parameters, ONCE);
		expect(error).toMatchObject({
			message: "'Execute Once' is on, so this node would only use the first of 3 items",
			description:
				"In n8n, turn it off in 'Settings'. To use only the first item on purpose, add a Limit node before this one.",
		});
	});

	test('with Continue, returns the row that n8n passed on in Rejected with the reason', async () => {
		const { rejected, statuses } = await push(3, {}, ONCE);
		expect(statuses).toEqual(['0 not_sent']);
		expect(rejected[0]?.json.rejection_reason).toContain('of 3 items');
	});

	test.each<[string, INodeExecutionData[], NodeParameters, number[]]>([
		['a single row', rows.slice(0, 1), {}, [0]],
		['a single file', [file(0)], { contactsFrom: 'csv' }, [0]],
		['pasted rows', rows, { contactsFrom: 'pasted', pastedRows: `phone\n${phone(7)}` }, [7]],
	])('pushes %s, because nothing is left out', async (_what, input, parameters, expected) => {
		const sent = scripted();
		expect((await runPush(input, parameters, ONCE)).error).toBeUndefined();
		expect(sent).toEqual([phones(...expected)]);
	});
});
