import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../n8n/until';
import type { ExampleRun } from './exampleRun';
import { sharedN8n } from './shared';

const submitted = z.object({ formWaitingUrl: z.string().optional() });

/** Publishes an example. Returns the URL of the form that starts it. */
export async function publishForm(
	run: ExampleRun,
	file: string,
	change = (node: INode) => node,
): Promise<string> {
	const { json } = await run.publish(file, change);
	const form = json.nodes.map(change).find(({ type }) => type.endsWith('.formTrigger'));
	const url = `${sharedN8n().baseUrl}/form/${form?.webhookId}`;
	await until('the form', async () => (await fetch(url)).ok);
	return url;
}

/** Submits a page of a form of n8n as its script does, and waits for the next page. */
export async function submitPage(
	url: string,
	values: ReadonlyArray<string | File>,
): Promise<{ url: string; html: string }> {
	const body = new FormData();
	values.forEach((value, index) => body.set(`field-${index}`, value));
	const before = await (await fetch(url)).text();
	const response = await fetch(url, { method: 'POST', body });
	const { formWaitingUrl: next = url } = submitted.parse(await response.json());
	const status = new URL(next);
	status.pathname += '/n8n-execution-status';
	const html = await until('the next page', async () => {
		if ((await (await fetch(status)).text()) !== 'form-waiting') return false;
		const page = await (await fetch(next)).text();
		return page !== before && page;
	});
	return { url: next, html };
}

/** Submits the page before the last one. Returns the title of the last page, and the lines of its message. */
export async function submitToEnd(
	url: string,
	values: ReadonlyArray<string | File>,
): Promise<string[]> {
	const last = await submitPage(url, values);
	// As the script of the last page does.
	await fetch(last.url, { method: 'POST', body: '{}' });
	const [, title = last.html, message = ''] =
		/<h1>(.*?)<\/h1>\s*<p[^>]*>(.*?)<\/p>\s*<\/div>/s.exec(last.html) ?? [];
	const lines = message.split(/<\/?(?:ul|li|p)>/).map((line) => line.trim());
	return [title.replaceAll('&#x27;', "'"), ...lines.filter((line) => line !== '')];
}
