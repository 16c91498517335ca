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

test('in n8n 1, which does not say it, a tool is known by its type', () => {
	const inN8n1 = (type: string) => {
		const context = called(type);
		return new Proxy(context, {
			has: (target, name) => name !== 'isToolExecution' && Reflect.has(target, name),
			get: (target, name): unknown =>
				name === 'isToolExecution' ? undefined : Reflect.get(target, name),
		});
	};
	expect(runsAsTool(inN8n1('placeCall'))).toBe(false);
	expect(runsAsTool(inN8n1('placeCallTool'))).toBe(true);
});
