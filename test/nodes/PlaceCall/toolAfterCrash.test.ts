import type { IDataObject, WorkflowExecuteMode } from 'n8n-workflow';
import { createRunExecutionData } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineTool, skipSleeps } from '../../engine';
import { acceptCalls, acceptUpTo, HOURS, NIGHT, NOON, placeCallHarness } from './placeCallHarness';

const harness = placeCallHarness();

let itIs: (iso: string) => void;
beforeEach(() => (itIs = skipSleeps(Date.parse(NOON))));
afterEach(() => jest.restoreAllMocks());

test("after n8n was killed during an agent run, a tool doesn't say outside the calling hours that the call it placed wasn't", async () => {
	const startedAt = clock.now();
	const node = harness.placeCallNode({
		options: { callingHours: { hours: HOURS }, outsideCallingHours: 'notPlaced' },
	});
	/** In an attempt of the execution, of which n8n has stored nothing. */
	const request = async (mode: WorkflowExecuteMode): Promise<IDataObject> => {
		const data = createRunExecutionData({
			executionData: {
				runtimeData: { version: 1, establishedAt: startedAt, source: 'trigger' },
			},
		});
		return await engineTool(harness.credentials, node, { data, mode })();
	};
	acceptCalls(1);
	expect(await request('trigger')).toMatchObject({ outcome: 'done' });
	const again = acceptUpTo(1);
	expect(await request('retry')).toMatchObject({ outcome: 'unknown' });
	itIs(NIGHT);
	const result = await request('retry');
	expect(result.next_step).not.toContain('Place the call then');
	expect(result).toMatchObject({ outcome: 'unknown' });
	expect(again).toEqual([]);
});
