import type {
	IBinaryKeyData,
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeParameters,
	IRun,
} from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { oneNodeWorkflow, records, runWorkflow } from '../../engine';
import { dialects, fixtures } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { itemsOf, perItem, placeCallHarness } from './placeCallHarness';

export const HOUR = 3_600_000;
export const WAIT = { options: { waitMinutes: 60 } };
export const ASK = {
	...{ operation: 'askAndWait', question: 'May we?', yesValues: 'yes', noValues: 'no' },
} satisfies INodeParameters;

export const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ phone: String(9_000_000_000 + index) }));

/** A service, whose dialect makes no difference here, and Place Call. The test controls the clock. */
export function waitHarness() {
	const harness = placeCallHarness();
	let now: jest.SpyInstance<number, []>;
	let waits: number[];

	beforeEach(() => {
		waits = [];
		now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'elapsed').mockImplementation(clock.now.bind(clock));
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await new Promise(() => {});
		});
	});
	const service = useSimulator({ dialect: dialects.plain });

	/** A node's credential with these fields. */
	async function withFields(
		fields: ICredentialDataDecryptedObject,
	): Promise<Pick<INode, 'credentials'>> {
		const { baseUrl, token: apiToken } = service();
		const details = await harness.addCredential({ baseUrl, apiToken, ...fields });
		return { credentials: { [CREDENTIAL]: details } };
	}

	async function node(parameters: INodeParameters, over: Partial<INode> = {}): Promise<INode> {
		return harness.placeCallNode(
			{
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
				...perItem,
				...parameters,
			},
			{ ...(await withFields({})), ...over },
		);
	}

	/** @param binary the files of each item */
	async function run(
		placeCall: INode,
		rows: number | IDataObject[],
		binary?: IBinaryKeyData,
	): Promise<IRun> {
		const { workflow, start } = oneNodeWorkflow(placeCall, ['After']);
		const items = itemsOf(typeof rows === 'number' ? people(rows) : rows);
		const input = items.map((item) => ({ ...item, ...(binary && { binary }) }));
		return await runWorkflow(workflow, start, input);
	}

	/** From now on, a wait ends immediately and advances the clock. */
	const timeFlies = (
		waiting: (ms: number) => Promise<unknown> = async () => await Promise.resolve(),
	): void => {
		let time = clock.now();
		now.mockImplementation(() => time);
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await waiting(ms);
			time += ms;
		});
	};
	const placed = () =>
		service()
			.placedCalls()
			.map(({ callId }) => callId);

	return {
		...{ harness, service, node, withFields, run, placed, timeFlies },
		isNow: (time: number) => now.mockReturnValue(time),
		waits: () => waits,
		/** The output, if this happens while the node begins to wait. */
		waitedFor: async (
			parameters: INodeParameters,
			meanwhile: (calls: string[]) => Promise<unknown>,
			rows: number | IDataObject[] = 1,
			over: Partial<INode> = {},
		): Promise<IDataObject[]> => {
			timeFlies(async () => {
				if (waits.length === 1) await meanwhile(placed());
			});
			return records(await run(await node(parameters, over), rows));
		},
	};
}
