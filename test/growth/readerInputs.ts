import { argumentsFor, takesText } from './arguments';
import { exportedFrom, shortName, sources, type Exported } from './exported';
import { readers, type Reader } from './readers';
import { texts, values, type Input, type Shape } from './shapes';

/** One way in which a reader is given text from outside. */
export type Attempt = {
	shapes: Shape[];
	read: (input: Input) => unknown;
	/** Whether another attempt gives the same in all places at once. */
	isOnePlace: boolean;
};

const everyShape = [...texts, ...values];

export const exported = sources.flatMap(exportedFrom);

export const placeOf = ({ file, name }: Exported): string => `${shortName(file)} › ${name}`;

function functionOf({ file, name }: Exported): (...given: unknown[]) => unknown {
	const found: unknown = Reflect.get(jest.requireActual<object>(file), name);
	if (typeof found !== 'function') throw new Error(`${name} of ${file} is no function`);
	return (...given): unknown => Reflect.apply(found, undefined, given);
}

/** Everything that reads text from outside: what its types alone say how to call, and what the table has. */
export const attempts = new Map<string, Attempt[]>();
for (const one of exported.filter(takesText)) {
	const call = functionOf(one);
	const found = argumentsFor(one).map((given, way) => ({
		shapes: everyShape,
		read: (input: Input) => call(...given(input)),
		isOnePlace: way > 0,
	}));
	if (found.length > 0) attempts.set(placeOf(one), found);
}
for (const [place, given] of Object.entries(readers)) {
	const own: Reader[] = Array.isArray(given) ? given : [given];
	const found = own.map(({ shapes = everyShape, read }) => ({ shapes, read, isOnePlace: false }));
	attempts.set(place, [...(attempts.get(place) ?? []), ...found]);
}
