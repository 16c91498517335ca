import { runsAsTool } from '../../../../nodes/shared/n8n/toolRun';
import { engineHarness, mcpContext } from '../../../engine';

const harness = engineHarness();

/** As n8n calls a tool by itself; only the type tells more. */
const called = (type: string) => mcpContext(harness.credentials, harness.node(type));

test('a tool that is called answers a model', () => {
	expect(runsAsTool(called('placeCall'))).toBe(true);
	expect(runsAsTool(called('placeCallTool'))).toBe(true);
});

test('one that asks a person for approval answers n8n', () => {
	expect(runsAsTool(called('placeCallHitlTool'))).toBe(false);
});
