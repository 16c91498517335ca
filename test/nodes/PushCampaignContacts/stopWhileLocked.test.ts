/** Stop, or the workflow's time limit, while n8n's database is locked in the middle of a push. */
import { WorkflowExecute } from 'n8n-core';
import { createRunExecutionData, type INode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { engineHarness, makeAdditionalData, oneNodeWorkflow } from '../../engine';
import { eventually } from '../../n8n/until';
import { accepted, answering, manyRows, phone, phonesOf, pushNode } from './pushHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

/** The first request is accepted. Then n8n can't note the second one, and the execution is stopped. */
async function stopAtSecond(over: Partial<INode> = {}) {
	const bodies = answering([200, accepted(1)]);
	const node = pushNode(harness, { options: { contactsPerRequest: 1 } }, over);
	const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	const stack = [{ node: start, data: { main: [manyRows(3)] }, source: null }];
	const data = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
	const additional = makeAdditionalData(harness.credentials, 'trigger');
	const ended = new WorkflowExecute(additional, 'trigger', data).processRunExecutionData(workflow);
	harness.store.beforeCall = () => {
		if (bodies.length > 0) throw new Error('database is locked');
	};
	jest.spyOn(clock, 'sleep').mockImplementation(async () => {
		ended.cancel();
		await new Promise(() => {});
	});
	await ended;
	const results = () => data.resultData.runData.Node ?? [];
	await eventually(() => results().length > 0);
	expect(bodies.flatMap(phonesOf)).toEqual([phone(0)]);
	return results()[0];
}

test('the message says that this attempt pushed the first row', async () => {
	const { error } = (await stopAtSecond()) ?? {};
	expect(error?.description).toContain('Pushed: 1 row (item 0, contact list 501)');
	expect(error?.description).not.toContain('This attempt sent nothing');
});

test('with Continue, the hints and reasons say the same', async () => {
	const result = await stopAtSecond({ onError: 'continueRegularOutput' });
	const hints = (result?.hints ?? []).map(({ message }) => message).join('\n');
	expect(hints).toContain('1 pushed');
	expect(hints).not.toContain('This attempt sent nothing');
	const reasons = result?.data?.main?.[1]?.map(({ json }) => json.rejection_reason);
	expect(reasons).toHaveLength(2);
	expect(JSON.stringify(reasons)).not.toContain('canceled. Nothing was sent');
});
