import type { INode } from 'n8n-workflow';
import { until } from '../n8n/until';
import { byId } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';

const SECONDS = 4;
const REACHED = 'A time limit of n8n was reached, or someone stopped the execution.';

describe("a workflow's time limit in real n8n", () => {
	const { n8n, simulator, ours, placeCall, start: startWith } = useAccount();

	/** Starts the node with a time limit. Returns the execution ID. */
	async function start(count: number, tested: INode): Promise<string> {
		const people = Array.from({ length: count }, (_, index) => String(9_000_000_000 + index));
		const named = { ...tested, name: 'Last' };
		const { id } = await startWith(people, [named], { executionTimeout: SECONDS });
		return id;
	}

	/** The error of the node in the execution, which n8n has canceled. */
	async function faultOf(id: string) {
		expect(await n8n.finished(id)).toMatchObject({ status: 'canceled' });
		const { message, description } = await until('the error', async () => {
			return (await n8n.runData(id)).runData.Last?.[0]?.error;
		});
		return { message, description };
	}

	const placed = () => simulator.placedCalls();
	const untilPlaced = async (count: number) =>
		await until(`${count} calls`, () => placed().length === count);

	it('cuts off a wait, a call, and a push with a message that says what happened', async () => {
		const reading = await start(2, placeCall({ options: { waitMinutes: 60 } }));
		await untilPlaced(2);
		const calls = placed().map(({ callId }) => callId);
		simulator.faults.inject({ kind: 'hang', match: { path: '/v1/call' }, skip: 1, times: 1 });
		const calling = await start(500, placeCall({ callLimit: 'day' }));
		simulator.faults.inject({ kind: 'hang', match: { path: /\/contacts$/ }, skip: 1, times: 1 });
		const pushing = await start(
			3,
			ours('Push', 'pushCampaignContacts', {
				agentUuid: byId(fixtures.agents.full),
				campaignId: String(fixtures.campaigns.active),
				phoneColumn: 'phone',
				whatToDo: 'wait',
				options: { contactsPerRequest: 1 },
			}),
		);

		expect(await faultOf(reading)).toEqual({
			message: 'The execution was canceled',
			description: `${REACHED} 2 calls were placed. Read them with Get Call: ${calls.join(', ')}.`,
		});
		const call = await faultOf(calling);
		expect(call.description).toContain(
			`${REACHED} No response arrived, so the outcome is unknown (call to 9000000001, IN) [row 2].`,
		);
		expect(call.description).toContain('look for 9000000001 in the calls of the account');
		expect(call.description).toContain('Completed in this run: row 1.');
		const push = await faultOf(pushing);
		expect(push.message).toBe('No response arrived, so the outcome is unknown');
		expect(push.description).toContain(REACHED);
		expect(push.description).toContain('Unknown: 1 row (row 2)');
		expect(push.description).toContain('Not sent: 1 row (row 3)');
	});
});
