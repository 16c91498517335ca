import { argumentsFor, takesText } from './arguments';
import { exportedFrom, shortName, sources, type Exported } from './exported';
import { notReaders, readers, type Reader } from './readers';
import { texts, values, type Input, type Shape } from './shapes';

/** One way to call a reader with text from outside. */
export type ReaderCall = {
	shapes: Shape[];
	read: (input: Input) => unknown;
	/** Whether only one parameter gets the input. Another call gives it to all parameters. */
	isOneParameter: boolean;
};

const everyShape = [...texts, ...values];

export const exported = sources.flatMap(exportedFrom);

export const idOf = ({ file, name }: Exported): string => `${shortName(file)} › ${name}`;

function functionOf({ file, name }: Exported): (...args: unknown[]) => unknown {
	const found: unknown = Reflect.get(jest.requireActual<object>(file), name);
	if (typeof found !== 'function') throw new Error(`${name} of ${file} is not a function`);
	return (...args): unknown => Reflect.apply(found, undefined, args);
}

/** Calls for everything that reads text from outside: from the types of its parameters, and from `readers.ts`. */
export const readerCalls = new Map<string, ReaderCall[]>();
for (const one of exported) {
	if (!takesText(one) || notReaders.has(idOf(one))) continue;
	const call = functionOf(one);
	const found = argumentsFor(one).map((argumentsOf, index) => ({
		shapes: everyShape,
		read: (input: Input) => call(...argumentsOf(input)),
		isOneParameter: index > 0,
	}));
	if (found.length > 0) readerCalls.set(idOf(one), found);
}
for (const [id, entry] of Object.entries(readers)) {
	const own: Reader[] = Array.isArray(entry) ? entry : [entry];
	const found = own.map((reader) => ({
		...(typeof reader === 'function' ? { shapes: everyShape, read: reader } : reader),
		isOneParameter: false,
	}));
	readerCalls.set(id, [...(readerCalls.get(id) ?? []), ...found]);
}
