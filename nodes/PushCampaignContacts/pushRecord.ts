import type { CallerRun } from '../host/caller/caller';
import { openMemory } from '../host/claims/executionMemory';
import { openClaims } from '../host/claims/openClaims';
import { openTextList, type StoreUse } from '../host/claims/openTextList';
import { isPushRecord, PushClaims, type PushRecord } from './push/pushClaims';
import type { PushSettings } from './pushSettings';

/** What n8n has of the pushes of this execution to a campaign. The same object in all of them. */
export function openPushRecord(run: CallerRun, { campaign }: PushSettings): PushRecord {
	return openMemory(run, `pushes to ${campaign.id}`, isPushRecord, { numbers: {} });
}

/** The list of *Numbers Pushed Before*. */
const PUSHED_BEFORE: StoreUse = {
	message:
		"n8n can't read or write the list of numbers pushed before, so the remaining rows weren't sent",
	description:
		"In n8n, save the workflow and try again. If that doesn't help, ask your n8n administrator to check the database. Or set 'Numbers Pushed Before' to 'Push Again', and push only new rows.",
};

/**
 * @param count of the rows
 * @throws NotSent if n8n can't read the parent execution
 */
export async function openPushClaims(
	run: CallerRun,
	{ campaign, skipPushedBefore }: PushSettings,
	record: PushRecord,
	count: number,
): Promise<PushClaims> {
	const ever = skipPushedBefore ? openTextList(run, 'workflow', PUSHED_BEFORE) : undefined;
	return new PushClaims(await openClaims(run), ever, record, campaign.id, count);
}

/** Whether this execution may have pushed anything before. True if n8n's database can't be reached. */
export async function mayHavePushed(run: CallerRun): Promise<boolean> {
	const claims = await openClaims(run).catch(() => undefined);
	return claims === undefined || (await claims.mayHaveBegun());
}
