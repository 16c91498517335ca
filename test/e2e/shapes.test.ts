import type { IDataObject, INode } from 'n8n-workflow';
import { condition, byId, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import type { Arrow } from './callingAgent';
import { answerQuestions, APPROVER } from './questions';
import { executeFlow, flowOnRows } from './rowRun';

/** n8n runs a node once for each connected output before it, and once more in each round of a loop. */
describe('in workflows whose branches meet', () => {
	const account = useAccount({ isMapped: true });
	const { n8n, simulator, ours, placeCall } = account;
	afterEach(async () => {
		await account.removeWorkflows();
		simulator.reset();
	});

	const ASHA = { phone: '9876543210', vip: true };
	const ASHA_AGAIN = { phone: '+91 98765 43210', vip: false };
	const BELA = { phone: '9876543211', vip: false };
	const AGENT = { agentUuid: byId(fixtures.agents.full) };

	const isVip = node('IF', 'n8n-nodes-base.if', 2.2, condition('={{ $json.vip }}', 'is true'));
	const merge = node('Both', 'n8n-nodes-base.merge', 3.2, {});

	async function execute(rows: IDataObject[], nodes: INode[], arrows: Arrow[]) {
		const executed = await executeFlow(account, flowOnRows(rows, nodes, arrows));
		expect(executed.error).toBeUndefined();
		return executed;
	}
	const callsTo = (phone: string) => simulator.callsTo(`+91${phone}`);

	test('each person is called once through a Merge node of both outputs of an IF node', async () => {
		const { runs } = await execute(
			[ASHA, ASHA_AGAIN, BELA],
			[isVip, merge, placeCall()],
			[
				['Rows', 'IF'],
				['IF', 'Both', 'main', 0],
				['IF', 'Place Call', 'main', 1],
				['Both', 'Place Call'],
			],
		);
		expect([callsTo('9876543210'), callsTo('9876543211')]).toEqual([1, 1]);
		const items = runs('Place Call').flatMap(([main = []]) => main);
		expect(items.filter(({ placed }) => placed === false)).toMatchObject([
			{ not_placed_reason: 'duplicate_number' },
		]);
	});

	test('in a loop, both branches of an IF node call a person once in all rounds', async () => {
		const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { batchSize: 2, options: {} });
		await execute(
			[ASHA, ASHA_AGAIN, ASHA, ASHA_AGAIN],
			[loop, isVip, placeCall()],
			[
				['Rows', 'Loop'],
				['Loop', 'IF', 'main', 1],
				['IF', 'Place Call', 'main', 0],
				['IF', 'Place Call', 'main', 1],
				['Place Call', 'Loop'],
			],
		);
		expect(callsTo('9876543210')).toBe(1);
	});

	test('both outputs of an IF node lead to a question that is asked once, and the other item has no answer', async () => {
		const ask = ours('Ask', 'placeCall', {
			...AGENT,
			operation: 'askAndWait',
			countryCode: 'IN',
			phoneNumber: APPROVER,
			question: 'May we?',
			yesValues: 'yes',
			noValues: 'no',
		});
		const workflow = await account.create(
			flowOnRows(
				[ASHA, BELA],
				[isVip, ask],
				[
					['Rows', 'IF'],
					['IF', 'Ask', 'main', 0],
					['IF', 'Ask', 'main', 1],
				],
			),
		);
		await n8n.startManually(workflow, 'Start');
		const id = await account.executionOf(workflow);
		expect(await answerQuestions(account, id, 'yes')).toBe('success');
		expect(callsTo(APPROVER)).toBe(1);
		const { runData } = await n8n.runData(id);
		const items = (runData.Ask ?? []).flatMap(({ data }) => data?.main?.[0] ?? []);
		expect(items.map(({ json }) => json.answer)).toEqual(['yes', 'not_reached']);
	});
});
