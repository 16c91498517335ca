import type { Locator } from 'playwright-core';
import type { Editor } from '../editor';

/** Uses the editor as a person does, and counts the clicks. What is typed isn't counted. */
export class Clicks {
	count = 0;

	constructor(private readonly editor: Editor) {}

	async on(part: Locator): Promise<void> {
		this.count++;
		await part.first().click();
	}

	/** @param action of the node, if it has several */
	async addNode(plus: Locator, name: string, action = 'Add to workflow'): Promise<void> {
		const { page } = this.editor;
		await this.on(plus);
		await page.getByTestId('node-creator-search-bar').fill(name);
		await this.on(page.getByTestId('item-iterator-item').filter({ hasText: name }));
		await this.on(page.getByText(action, { exact: true }));
		await page.getByTestId('ndv').waitFor();
	}

	/** Opens a list from the service, and selects the entry by typing. */
	async pick(parameter: string, text: string): Promise<void> {
		const { page } = this.editor;
		await this.on(page.getByTestId(`resource-locator-${parameter}`).locator('input').last());
		await this.editor.searchList(text);
		await page.getByTestId('rlc-item').filter({ hasText: text }).first().waitFor();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
	}

	/** Opens a list of options, and selects one. */
	async choose(parameter: string, name: string): Promise<void> {
		const { page } = this.editor;
		await this.on(page.getByTestId(`parameter-input-${parameter}`));
		await page.keyboard.type(name);
		await this.on(
			page.getByTestId('parameter-input-item').filter({ hasText: name, visible: true }),
		);
	}

	/** *Execute step*, or the button of a trigger. */
	async execute(): Promise<void> {
		await this.on(this.editor.page.getByTestId('node-execute-button'));
	}
}
