/** The files of an item go on with its fields. */
import type {
	IBinaryKeyData,
	INode,
	INodeExecutionData,
	INodeParameters,
	IRun,
} from 'n8n-workflow';
import { oneNodeWorkflow, output, retryFailed } from '../../engine';
import { CONTINUE, HOURS, NIGHT } from './placeCallHarness';
import { ASK, people, WAIT, waitHarness } from './waitHarness';

const CONTENT = Buffer.from('phone\n9876543210\n').toString('base64');
const binary: IBinaryKeyData = {
	List_0: { data: CONTENT, mimeType: 'text/csv', fileName: 'leads.csv' },
};
const { node, run: runPlaceCall, service, isNow, timeFlies } = waitHarness();

const filesOf = (items: INodeExecutionData[]) => items.map((item) => item.binary);
const run = async (parameters: INodeParameters, over: Partial<INode> = {}, count = 1) =>
	await runPlaceCall(await node(parameters, over), count, binary);

/** How often the record of the execution would have the file, if n8n stored each object once. */
function timesStored({ data }: IRun): number {
	const seen = new Set<unknown>();
	const text = JSON.stringify(data, (_name, value: unknown) => {
		if (typeof value !== 'object' || value === null) return value;
		if (seen.has(value)) return undefined;
		seen.add(value);
		return value;
	});
	return text.split(CONTENT).length - 1;
}

test.each<[what: string, parameters: INodeParameters]>([
	['is placed', {}],
	["isn't placed, because nothing is with Check Only", { whatToDo: 'check' }],
	["isn't placed outside calling hours", { ...HOURS, outsideCallingHours: 'notPlaced' }],
])('a call that %s', async (_what, parameters) => {
	isNow(Date.parse(NIGHT));
	const ran = await run(parameters);
	expect(filesOf(output(ran, 'Node'))).toEqual([binary]);
	expect(timesStored(ran)).toBe(1);
});

test.each([
	['continueRegularOutput', 0],
	['continueErrorOutput', 1],
] as const)('an item that failed, with %s', async (onError, index) => {
	const ran = await run({ phoneNumber: 'no number' }, { onError });
	const items = ran.data.resultData.runData.Node?.[0]?.data?.main?.[index] ?? [];
	expect(items).toMatchObject([
		{ json: { error: expect.any(String), phone: '9000000000' }, binary },
	]);
});

test('each item of a run that could not begin', async () => {
	const ran = await run({ options: { concurrency: 'x' } }, CONTINUE, 2);
	expect(filesOf(output(ran, 'Node'))).toEqual([binary, binary]);
});

test('a call of an earlier attempt, whose result has no file', async () => {
	service().faults.inject({ kind: 'status', status: 400, match: { method: 'POST' }, skip: 1 });
	const placeCall = await node({});
	const failed = await runPlaceCall(placeCall, 2, binary);
	expect(failed.status).toBe('error');
	service().faults.clear();
	const retried = await retryFailed(failed, oneNodeWorkflow(placeCall).workflow);
	expect(filesOf(output(retried, 'Node'))).toEqual([binary, binary]);
	expect(timesStored(retried)).toBe(1);
});

test.each([
	['Place', WAIT],
	['Ask and Wait', ASK],
])('a wait of %s, also for the call of an equal number', async (_operation, parameters) => {
	timeFlies(async () => {
		for (const { callId } of service().placedCalls()) await service().endCall(callId);
	});
	const [row = {}] = people(1);
	const ran = await runPlaceCall(await node(parameters), [row, row], binary);
	expect(filesOf(output(ran, 'Node'))).toEqual([binary, binary]);
});
