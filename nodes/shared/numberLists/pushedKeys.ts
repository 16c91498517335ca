import { removeAll, type DeduplicationStore } from '../deduplicationStore';

export const TEXTS_PER_PUSHED_NUMBER = 2;

/**
 * The two keys of a number that was pushed: one is reserved before it is sent, the other confirms that a run has reported
 * the result.
 *
 * @param list the name of the list
 * @param number equal for equal numbers in any format
 */
export function pushedKeys(list: string, number: string): { reserved: string; confirmed: string } {
	const reserved = `pushed ${list} ${number}`;
	return { reserved, confirmed: `${reserved} confirmed` };
}

/** @returns whether one of these numbers was in the list */
export async function forgetPushed(
	store: DeduplicationStore,
	list: string,
	numbers: readonly string[],
): Promise<boolean> {
	const keys = numbers.map((number) => pushedKeys(list, number));
	// In this order: if interrupted in between, the number counts as unknown and isn't sent.
	await removeAll(
		store,
		keys.map(({ confirmed }) => confirmed),
	);
	const before = await store.count();
	await removeAll(
		store,
		keys.map(({ reserved }) => reserved),
	);
	return (await store.count()) < before;
}
