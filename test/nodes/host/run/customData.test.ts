import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { addCustomData } from '../../../../nodes/host/run/customData';

/** The part of n8n's context that has custom data. */
function contextWith(data: Record<string, string>) {
	const customData = {
		getAll: () => ({ ...data }),
		set: (name: string, value: string) => void (data[name] = value),
	};
	return z.custom<IExecuteFunctions>().parse({ customData });
}

test.each<[earlier: string | undefined, added: IDataObject[string][], now: string | undefined]>([
	[undefined, ['a', 'b', 'a'], 'a, b'],
	['a', ['b', 'a'], 'a, b'],
	['the own value of a workflow', ['a'], 'the own value of a workflow, a'],
	[undefined, [501, 502], '501, 502'],
	[undefined, [null, undefined, '', {}, true], undefined],
	[undefined, ['x'.repeat(255)], 'x'.repeat(255)],
	[undefined, ['x'.repeat(256), 'a'], 'a'],
	['x'.repeat(252), ['a', 'bc'], `${'x'.repeat(252)}, a`],
])('%j with %j becomes %j', (earlier, added, now) => {
	const data: Record<string, string> = earlier === undefined ? {} : { call_id: earlier };
	const items = added.map((call_id) => ({ json: { call_id } }));
	addCustomData(contextWith(data), items, 'call_id');
	expect(data.call_id).toBe(now);
});

test('sets nothing again that stays as it is, because a large execution adds its calls one by one', () => {
	const data: Record<string, string> = { call_id: 'x'.repeat(250) };
	Object.freeze(data);
	const add = () => addCustomData(contextWith(data), [{ json: { call_id: 'another' } }], 'call_id');
	expect(add).not.toThrow();
});

test('an n8n without custom data gets none', () => {
	const context = z.custom<IExecuteFunctions>().parse({});
	expect(() => addCustomData(context, [{ json: { call_id: 'a' } }], 'call_id')).not.toThrow();
});
